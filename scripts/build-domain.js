// @ts-check
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { BuildError, runPackage } from './build-service.js'
import { linkPackages, packageOf } from './link-packages.js'
import { buildOutput } from './output.js'

/** Not sources: what this build makes. */
const MADE = ['dist', 'generated']

/** Folders that are not the domain's at any depth: packages, and those of tools, such as `.git`. */
const OTHERS = /^(node_modules|\..*)$/

/** The folder of the setting DOMAIN: of the environment, or of the `.env` file of the working folder. */
export function domainSetting() {
  return process.env['DOMAIN'] || readEnvironmentFile()['DOMAIN'] || undefined
}

/** @returns {NodeJS.Dict<string>} empty if the file cannot be read; the command itself reports why */
function readEnvironmentFile() {
  try {
    return parseEnv(readFileSync('.env', 'utf8'))
  } catch {
    return {}
  }
}

/**
 * Builds the domain in a folder if its sources have changed since the last build: generates Prisma's client in
 * `generated/client`, if there is a schema yet, and compiles the definitions and the client to `dist`. The service
 * must have been built.
 *
 * @param {string} path
 * @param needsClient false for a command that needs the definitions alone
 * @throws {BuildError} when a source has an error, or `halgraph/domain` is of another installation
 */
export async function buildDomainIfChanged(path, needsClient = true) {
  const folder = resolve(path)
  if (!existsSync(join(folder, 'index.ts'))) {
    if (existsSync(join(folder, 'dist/index.js'))) return linkPackages(folder)
    throw new BuildError(
      `DOMAIN: there is no index.ts in ${folder}. To start a domain there, run \`npx halgraph new ${path}\` without DOMAIN.`,
    )
  }
  await buildOutput(
    folder,
    () => sourcesOf(folder),
    async (made) => {
      process.stderr.write(`Building the domain in ${path} …\n`)
      return build(folder, made, needsClient)
    },
  )
  // A folder that was copied with its build has no links, or links to where it was.
  await linkPackages(folder)
}

/**
 * What changes when a source or a migration of the domain in a folder does.
 *
 * @param {string} path
 */
export function stateOfSources(path) {
  const folder = resolve(path)
  const files = sourcesOf(folder, /\.(ts|prisma|sql|graphql)$/).filter((file) => !file.endsWith('.test.ts'))
  const stateOf = (/** @type {string[]} */ of) =>
    of
      .map((file) => {
        const status = statSync(join(folder, file), { throwIfNoEntry: false })
        return `${file} ${status?.mtimeMs} ${status?.size}`
      })
      .join('\n')
  const isMigration = (/** @type {string} */ file) => file.startsWith('prisma')
  return {
    definitions: stateOf(files.filter((file) => !isMigration(file))),
    migrations: stateOf(files.filter(isMigration)),
  }
}

/** The folder of compiled tests: not in the build, which is deployed without them. */
const TESTS = 'dist.tests'

/**
 * Compiles the tests of the domain in a folder, `*.test.ts`, and what they import.
 *
 * @param {string} path
 * @returns {Promise<Map<string, string>>} the compiled file of each test, by the test; absolute
 * @throws {BuildError} when one has an error
 */
export async function buildTests(path) {
  const folder = resolve(path)
  const made = join(folder, TESTS)
  const tests = sourcesOf(folder).filter(
    (file) => file.endsWith('.test.ts') && packageOf(dirname(join(folder, file))) === packageOf(folder),
  )
  await rm(made, { recursive: true, force: true })
  if (tests.length > 0) await compile(folder, made, tests, ['node'])
  if (tests.length > 0) await markModules(folder, made)
  const compiled = (/** @type {string} */ file) => join(made, file.replace(/\.ts$/, '.js'))
  return new Map(tests.map((file) => [join(folder, file), compiled(file)]))
}

/**
 * Lets Node treat the made files as ECMAScript modules, unless the nearest `package.json` says so. Within the project,
 * another one would hide the name `halgraph`.
 *
 * @param {string} folder
 * @param {string} made
 */
async function markModules(folder, made) {
  const file = join(packageOf(folder) ?? folder, 'package.json')
  if (existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).type === 'module') return
  await writeFile(join(made, 'package.json'), '{ "type": "module" }\n')
}

/** @param {string} folder @param {string} made @param {boolean} needsClient */
async function build(folder, made, needsClient) {
  await linkPackages(folder)
  const isWhole = await buildWithClient(folder, made).then(
    () => true,
    async (error) => {
      if (needsClient) throw error
      await rm(made, { recursive: true, force: true })
      await compile(folder, made, [DEFINITIONS])
      return false
    },
  )
  await markModules(folder, made)
  return isWhole
}

const DEFINITIONS = 'index.ts'
const CLIENT = 'generated/client/client.ts'

/** @param {string} folder @param {string} made */
async function buildWithClient(folder, made) {
  const schema = join(folder, 'prisma/schema.prisma')
  if (existsSync(schema)) await generateIfChanged(folder, schema)
  await compile(folder, made, [DEFINITIONS, CLIENT])
}

/** Where the digest of the schema is that the client was generated from. */
const GENERATED_FROM = 'generated/schema.sha256'

/**
 * Generates Prisma's client, which takes longer than the rest of a build.
 *
 * @param {string} folder
 * @param {string} schema
 */
async function generateIfChanged(folder, schema) {
  const version = createRequire(import.meta.url)('@prisma/client/package.json').version
  const digest = createHash('sha256')
    .update(`${version}\n${readFileSync(schema, 'utf8')}`)
    .digest('hex')
  const file = join(folder, GENERATED_FROM)
  const isCurrent =
    existsSync(file) && readFileSync(file, 'utf8') === digest && existsSync(join(folder, CLIENT))
  if (isCurrent) return
  await rm(file, { force: true })
  await runPackage('prisma', 'build/index.js', ['generate', '--schema', schema])
  await writeFile(file, digest)
}

/**
 * Compiles modules, if they exist, and what they import.
 *
 * @param {string} folder
 * @param {string} output
 * @param {string[]} files
 * @param {string[]} types packages with types of what is global
 */
async function compile(folder, output, files, types = []) {
  await mkdir(output)
  const modules = files.map((file) => join(folder, file))
  const configuration = join(output, 'tsconfig.json')
  const settings = {
    compilerOptions: { ...COMPILER_OPTIONS, types, rootDir: folder, outDir: output },
    files: modules.filter((file) => existsSync(file)),
  }
  await writeFile(configuration, JSON.stringify(settings))
  await runPackage('typescript', 'bin/tsc', ['-p', configuration], process.cwd())
  await rm(configuration)
}

const COMPILER_OPTIONS = {
  target: 'es2023',
  module: 'preserve',
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
  skipLibCheck: true,
  noEmitOnError: true,
}

/** @param {string} folder @param {RegExp} pattern */
function sourcesOf(folder, pattern = /\.(ts|prisma)$/) {
  return namesIn(folder)
    .filter(({ name }) => !MADE.includes(name) && !name.startsWith('dist.'))
    .flatMap((entry) => filesIn(folder, entry.name, entry))
    .filter((file) => pattern.test(file))
    .sort()
}

/**
 * The names of the files at a place below a folder. A folder can vanish meanwhile, as others build in it.
 *
 * @param {string} folder
 * @param {string} place
 * @param {import('node:fs').Dirent} entry
 * @returns {string[]}
 */
function filesIn(folder, place, entry) {
  if (!entry.isDirectory()) return [place]
  if (OTHERS.test(entry.name)) return []
  return namesIn(join(folder, place)).flatMap((one) => filesIn(folder, join(place, one.name), one))
}

/** @param {string} folder */
function namesIn(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    const { code = '' } = /** @type {NodeJS.ErrnoException} */ (error)
    if (['ENOENT', 'ENOTDIR'].includes(code)) return []
    throw error
  }
}
