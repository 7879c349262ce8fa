// @ts-check
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bundle } from './bundle.js'
import { buildOutput, hasOutput, isCurrent } from './output.js'

/** What the build depends on: files and folders of the project. */
const SOURCES = [
  'package-lock.json',
  'prisma.config.ts',
  'prisma/schema.prisma',
  'scripts/build-service.js',
  'scripts/bundle.js',
  'scripts/output.js',
  'tsconfig.json',
  'tsconfig.build.json',
  'src',
  'tools',
]

/** Made by the build itself, below the sources. */
const GENERATED = 'src/database/generated'

const project = fileURLToPath(new URL('..', import.meta.url))
const require = createRequire(import.meta.url)

/** The message says why the build failed. */
export class BuildError extends Error {
  /** @override */
  name = 'BuildError'
}

/**
 * Builds the service into `dist/` if the sources have changed since the last build. An installation without sources
 * has nothing to compare with.
 *
 * @param needsClient whether the Prisma client must be that of the schema; otherwise an older one will do
 * @throws {BuildError} if a source has an error, or a package that the build needs is not installed
 */
export async function buildIfChanged(needsClient = true) {
  if (hasOutput(project) && !existsSync(inProject('src'))) return
  if (isCurrent(project, sources())) return
  const missing = BUILD_PACKAGES.filter((name) => !isInstalled(name))
  if (missing.length > 0) {
    const problem = hasOutput(project)
      ? 'The sources have changed since the last build'
      : 'The service is not built'
    throw new BuildError(`${problem}. Run \`npm ci && npm run build\`, with the development dependencies.`)
  }
  await buildOutput(project, sources, (made) => build(made, needsClient))
}

/** An installation for production lacks the Prisma command line. */
const BUILD_PACKAGES = ['esbuild', 'prisma', 'typescript']

function sources() {
  return SOURCES.flatMap(filesOf)
}

/**
 * The files of a source in a fixed order.
 *
 * @param {string} path
 * @returns {string[]}
 */
function filesOf(path) {
  if (!existsSync(inProject(path))) return []
  if (!statSync(inProject(path)).isDirectory()) return [path]
  return readdirSync(inProject(path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(project.length))
    .filter((file) => !file.startsWith(GENERATED))
    .sort()
}

/** @param {string} made @param {boolean} needsClient */
async function build(made, needsClient) {
  process.stderr.write('Building the service …\n')
  const isGenerated = await runPackage('prisma', 'build/index.js', ['generate']).then(
    () => true,
    (error) => {
      if (needsClient || !existsSync(inProject(GENERATED))) throw error
      return false
    },
  )
  await runPackage('typescript', 'bin/tsc', ['-p', 'tsconfig.build.json', '--outDir', made])
  await bundle(project, made)
  return isGenerated
}

/**
 * Runs the program of a package; what it prints is shown only when it fails.
 *
 * @throws {BuildError} when it fails or is not installed
 * @param {string} name
 * @param {string} program
 * @param {string[]} parameters
 * @param {string} cwd the folder to which the files in its messages are relative, if they are below it
 */
export async function runPackage(name, program, parameters, cwd = project) {
  if (!isInstalled(name))
    throw new BuildError(`The build needs ${name}: install it with \`npm ci --include=dev\`.`)
  const entry = join(require.resolve(`${name}/package.json`), '..', program)
  const env = { ...process.env, CHECKPOINT_DISABLE: '1', PRISMA_HIDE_UPDATE_MESSAGE: '1', NO_COLOR: '1' }
  const options = { cwd, env, maxBuffer: 2 ** 26 }
  await promisify(execFile)(process.execPath, [entry, ...parameters], options).catch((error) => {
    const message = `${error.stdout}${error.stderr}`.replace(/^\.\.\/[^(\n]*/gm, (path) => resolve(cwd, path))
    throw new BuildError(`The build failed:\n${message}`)
  })
}

/** @param {string} name */
function isInstalled(name) {
  try {
    require.resolve(`${name}/package.json`)
    return true
  } catch {
    return false
  }
}

/** @param {string} path */
function inProject(path) {
  return join(project, path)
}
