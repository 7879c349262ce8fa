// @ts-check
// What `npx ava` runs. Importing this builds the service, the domain of DOMAIN and the tests, where their sources have
// changed.
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import './scripts/build-tests.js'

/** Tests that take long: they run with FULL=1. */
const FULL = 'test/**/*.full.test.ts'

if (process.env['FULL'] !== '1') {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  const skipped = files.filter((file) => file.endsWith('.full.test.ts')).sort()
  process.stderr.write(`Skipped, because FULL=1 is not set: ${skipped.length} files that build copies of the project, \
run browsers, linters or servers of their own, or kill the service:\n  ${skipped.join(' ')}\n`)
}

export default {
  // One more than there are processors, because tests wait at times.
  concurrency: availableParallelism() + 1,
  files: ['test/**/*.test.ts', ...(process.env['FULL'] === '1' ? [] : [`!${FULL}`])],
  // V8 optimizes the embedded database later than it would, because most tests end before that pays off.
  nodeArguments: ['--wasm-tiering-budget=200000000'],
  typescript: { compile: false, rewritePaths: { 'test/': 'test/dist/' } },
  workerThreads: false,
  timeout: '5m',
}
