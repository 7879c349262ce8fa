// @ts-check
// What `npx ava` runs. Importing this builds the service, the domain of DOMAIN and the tests, where their sources have
// changed.
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import './scripts/build-tests.js'

/** Tests that take long: they run with FULL=1. */
const FULL = /\.full\.test\.ts$/

/** Each file of this folder imports test files that run in one process: a process takes three seconds of processor time. */
const SUITES = 'test/suites'

const all = readdirSync('test', { recursive: true, encoding: 'utf8' })
const tests = all.filter((file) => file.endsWith('.test.ts')).sort()
const isFull = process.env['FULL'] === '1'

if (!isFull) {
  const skipped = tests.filter((file) => FULL.test(file))
  process.stderr.write(`Skipped, because FULL=1 is not set: ${skipped.length} files that build copies of the project, \
run browsers, linters or servers of their own, or kill the service:\n  ${skipped.join(' ')}\n`)
}

/** The files of each suite, by its path. */
const suites = new Map(
  readdirSync(SUITES).map((name) => {
    const imports = readFileSync(`${SUITES}/${name}`, 'utf8').matchAll(/^import '\.\.\/(.+)'$/gm)
    return [`${SUITES}/${name}`, [...imports].map(([, file = '']) => file)]
  }),
)

const inSuites = new Set([...suites.values()].flat())

/** Files that are named on the command line run in processes of their own. */
const isSelection = process.argv.slice(2).some((path) => path.startsWith('test/') && !suites.has(path))

/** @param {string} file */
const isSuite = (file) => file.includes('/suites/')

export default {
  // One more than there are processors, because tests wait at times.
  concurrency: availableParallelism() + 1,
  files: isSelection
    ? [...process.argv.filter(isSuite), 'test/**/*.test.ts']
    : [
        ...suites.keys(),
        ...tests
          .filter((file) => !inSuites.has(file) && (isFull || !FULL.test(file)))
          .map((file) => `test/${file}`),
      ],
  // V8 optimizes the embedded database later than it would, because most tests end before that pays off.
  nodeArguments: ['--wasm-tiering-budget=2000000000'],
  // The files of a suite declare their tests together, so nothing that they import may still be loading.
  require: ['./test/dist/helpers/process/prepare.js'],
  // A suite is not as long as the longest files, which would run alone at the end.
  sortTestFiles: (one, other) => Number(isSuite(one)) - Number(isSuite(other)) || one.localeCompare(other),
  typescript: { compile: false, rewritePaths: { 'test/': 'test/dist/' } },
  workerThreads: false,
  timeout: '5m',
}
