// @ts-check
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** What the build depends on: files and folders of the project. */
const SOURCES = [
  'package-lock.json',
  'prisma.config.ts',
  'prisma/schema.prisma',
  'scripts/build-service.js',
  'tsconfig.json',
  'tsconfig.build.json',
  'src',
]

/** Made by the build itself, below the sources. */
const GENERATED = 'src/database/generated'

const OUTPUT = 'dist'
/** The fingerprint of the sources that the output was built from; written last. */
const FINGERPRINT = 'dist/fingerprint'

/** A lock that has not been renewed for this long belongs to a build that was killed. */
const STALE_MILLISECONDS = 10_000
const RETRY_MILLISECONDS = 100
const LONGEST_BUILD_MILLISECONDS = 600_000

const project = fileURLToPath(new URL('..', import.meta.url))
const require = createRequire(import.meta.url)

/** The build cannot be made, for the reason in the message. */
export class BuildError extends Error {
  /** @override */
  name = 'BuildError'
}

/**
 * Builds the service into `dist/` if the sources have changed since the last build. Builds that start at the same
 * time wait for each other, and a build that was killed leaves the output of the one before.
 *
 * @throws {BuildError} when it cannot be built: a source has an error, or what builds it is not installed
 */
export async function buildIfChanged() {
  if (isCurrent()) return
  const missing = BUILD_PACKAGES.filter((name) => !isInstalled(name))
  if (missing.length > 0) {
    const problem = existsSync(inProject(FINGERPRINT))
      ? 'The sources have changed since the last build'
      : 'The service is not built'
    throw new BuildError(`${problem}. Run \`npm ci && npm run build\`, with the development dependencies.`)
  }
  const unlock = await lockBuild(project)
  try {
    if (isCurrent()) return
    await removeRemains()
    await build()
  } finally {
    await unlock()
  }
}

/** The packages that the build needs; an installation for production has no Prisma command line. */
const BUILD_PACKAGES = ['prisma-cli', 'typescript']

/** Whether the output is that of the sources. An installation without sources has nothing to compare with. */
function isCurrent() {
  if (!existsSync(inProject(FINGERPRINT))) return false
  if (!existsSync(inProject('src'))) return true
  return readFileSync(inProject(FINGERPRINT), 'utf8') === fingerprint()
}

/** A hash of the names and contents of all sources. */
function fingerprint() {
  const hash = createHash('sha256')
  for (const path of SOURCES.flatMap(filesOf)) {
    const content = readFileSync(inProject(path))
    hash.update(`${path}\n${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}

/**
 * The files of a source in a fixed order.
 *
 * @param {string} path
 * @returns {string[]}
 */
function filesOf(path) {
  if (path !== 'src') return existsSync(inProject(path)) ? [path] : []
  return readdirSync(inProject(path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(project.length))
    .filter((file) => !file.startsWith(GENERATED))
    .sort()
}

async function build() {
  process.stderr.write('Building the service …\n')
  const made = `${OUTPUT}.${process.pid}`
  const built = fingerprint()
  try {
    await runPackage('prisma-cli', 'build/index.js', 'generate')
    await runPackage('typescript', 'bin/tsc', '-p', 'tsconfig.build.json', '--outDir', made)
    await writeFile(inProject(`${made}/fingerprint`), built)
    await replaceOutput(made)
  } finally {
    await rm(inProject(made), { recursive: true, force: true })
  }
}

/** Removes what builds left behind that were killed. */
async function removeRemains() {
  const remains = readdirSync(project).filter((name) => /^dist\.\d+(\.old)?$/.test(name))
  for (const name of remains) await rm(inProject(name), { recursive: true, force: true })
}

/**
 * Puts a new output in the place of the old one, so that nothing of deleted sources remains.
 *
 * @param {string} made
 */
async function replaceOutput(made) {
  const old = `${made}.old`
  if (existsSync(inProject(OUTPUT))) await rename(inProject(OUTPUT), inProject(old))
  await rename(inProject(made), inProject(OUTPUT))
  await rm(inProject(old), { recursive: true, force: true })
}

/**
 * Runs the program of a package; what it prints is shown only when it fails.
 *
 * @throws {BuildError} when it fails or is not installed
 * @param {string} name
 * @param {string} program
 * @param {string[]} parameters
 */
export async function runPackage(name, program, ...parameters) {
  if (!isInstalled(name))
    throw new BuildError(`The build needs ${name}: install it with \`npm ci --include=dev\`.`)
  const entry = join(require.resolve(`${name}/package.json`), '..', program)
  const env = { ...process.env, CHECKPOINT_DISABLE: '1', PRISMA_HIDE_UPDATE_MESSAGE: '1' }
  const options = { cwd: project, env, maxBuffer: 2 ** 26 }
  await promisify(execFile)(process.execPath, [entry, ...parameters], options).catch((error) => {
    throw new BuildError(`The build failed:\n${error.stdout}${error.stderr}`)
  })
}

/**
 * Waits for another build of a folder, if there is one; resolves to the function that lets the next one start.
 *
 * @param {string} folder
 */
export async function lockBuild(folder) {
  const { lock } = (await import('proper-lockfile')).default
  const retries = { retries: LONGEST_BUILD_MILLISECONDS / RETRY_MILLISECONDS, factor: 1 }
  return lock(folder, {
    lockfilePath: join(folder, 'dist.lock'),
    stale: STALE_MILLISECONDS,
    retries: { ...retries, minTimeout: RETRY_MILLISECONDS, maxTimeout: RETRY_MILLISECONDS },
    // Another build took over because this one did not get the processor for long. Both make the same.
    onCompromised: () => {},
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
