// @ts-check
// What `npx ava` runs. Importing this builds the service, the domain of DOMAIN and the tests, where their sources have
// changed, and looks for a PostgreSQL server.
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import './scripts/build-tests.js'
import { findTestServer } from './scripts/test-server.js'

/**
 * The runs (`scripts/test.js`) by what they leave out. `x.ci.test.ts` takes longer than a change should wait for;
 * `x.full.test.ts` builds copies of the project, runs browsers, linters or servers of its own, or kills the service;
 * `x.external.test.ts` installs other packages or needs an idle machine, and runs only by name.
 */
const LEFT_OUT = {
  quick: /\.(ci|full|external)(\.test)?\.ts$/,
  ci: /\.(full|external)\.test\.ts$/,
  all: /\.external\.test\.ts$/,
}

/** Each file of this folder imports test files that run in one process: the first request of a process costs a second. */
const SUITES = 'test/suites'

const run = /** @type {keyof LEFT_OUT} */ (process.env['TEST_RUN'] ?? 'quick')
const server = await findTestServer()
if (server) process.env['TEST_DATABASE_URL'] = server
else delete process.env['TEST_DATABASE_URL']

/** Of those left out, these run all the same. */
const chosen = (process.env['TEST_FULL'] ?? '').split(' ')

const programs = readdirSync('test', { recursive: true, encoding: 'utf8' }).map((file) => `test/${file}`)
const suites = programs.filter((file) => file.startsWith(`${SUITES}/`) && file.endsWith('.ts'))
const inSuites = new Set(suites.flatMap(importsOf))

/** @param {string} suite */
function importsOf(suite) {
  const imports = readFileSync(suite, 'utf8').matchAll(/^import '(?:\.\.\/)+(.+)'$/gm)
  return [...imports].map(([, file = '']) => `test/${file}`)
}

/** On a server, some suites run on the embedded database all the same, or behind an engine that lacks features. */
const needsServer = (/** @type {string} */ suite) => suite.startsWith(`${SUITES}/restricted/`)

const files = [
  ...suites,
  ...programs.filter((file) => /^test\/(?!dist).*\.test\.ts$/.test(file) && !inSuites.has(file)),
]
  .filter((file) => !LEFT_OUT[run].test(file) || chosen.includes(file))
  .filter((file) => server || !needsServer(file))
  .sort()

/** Test files named on the command line run in processes of their own, whatever the run. */
const isSelection = process.argv.slice(2).some((path) => path.startsWith('test/'))

/** @param {string} file */
const isLong = (file) => /\.(?:ci|full)\.|\/suites\//.test(file)

export default {
  // One more than there are processors, because tests wait at times.
  concurrency: availableParallelism() + 1,
  files: isSelection ? [...suites, 'test/**/*.test.ts', '!test/dist'] : files,
  // V8 optimizes the embedded database later than it would, because most tests end before that pays off.
  nodeArguments: ['--wasm-tiering-budget=2000000000'],
  require: ['./test/dist/test/helpers/process/prepare.js'],
  // The longest would run alone at the end.
  sortTestFiles: (/** @type {string} */ one, /** @type {string} */ other) =>
    Number(isLong(other)) - Number(isLong(one)) || one.localeCompare(other),
  typescript: { compile: false, rewritePaths: { 'test/': 'test/dist/test/' } },
  workerThreads: false,
  timeout: '5m',
}
