// @ts-check
// `npm test`, `npm run test:ci` and `npm run test:all`: checks and builds the project, runs the tests, and ends with the
// time that each part and each file took, what failed, and the number of tests.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { fullTestsOfChanges } from './changed-tests.js'
import { childrenSeconds } from './processor-time.js'
import { findTestServer } from './test-server.js'

const [run = 'quick', ...parameters] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'halgraph-usage-'))
const usage = join(folder, 'usage')
const seed = process.env['TEST_SEED'] ?? (run === 'all' ? String(Math.floor(Math.random() * 1e6)) : undefined)

/** @typedef {{ name: string, seconds: number, wall: number }} Part */

/** @type {Part[]} */
const parts = []

/**
 * Runs a command and notes what it took. Its output is shown, and kept.
 *
 * @param {string} name
 * @param {string} command
 * @param {Record<string, string>} [environment]
 */
async function part(name, command, environment) {
  const [wall, seconds] = [performance.now(), childrenSeconds()]
  const child = spawn(command, {
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  })
  let output = ''
  for (const [stream, shown] of /** @type {const} */ ([
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ])) {
    stream.on('data', (chunk) => {
      output += chunk
      shown.write(chunk)
    })
  }
  const [status] = await once(child, 'close')
  parts.push({ name, seconds: childrenSeconds() - seconds, wall: (performance.now() - wall) / 1_000 })
  return { status, output: stripVTControlCharacters(output) }
}

/** @param {readonly Part[]} rows */
function table(rows) {
  const digits = (/** @type {number} */ value) => value.toFixed(1).padStart(8)
  return rows.map(({ name, seconds, wall }) => `${digits(seconds)} ${digits(wall)}  ${name}`).join('\n')
}

/** What each file took, the longest first. */
function files() {
  const lines = existsSync(usage) ? readFileSync(usage, 'utf8').trim().split('\n') : []
  return lines
    .map((line) => JSON.parse(line))
    .map(({ file, ...times }) => ({ name: file.replace(/.*\/(?=test\/)/, ''), ...times }))
    .sort((one, other) => other.seconds - one.seconds)
}

const server = await findTestServer()
console.log(
  server
    ? `Database: ${server.replace(/:[^:@/]*@/, '@')}`
    : 'Database: embedded (no TEST_DATABASE_URL, and no server on this machine)',
)
if (seed !== undefined) console.log(`Seed: TEST_SEED=${seed}`)

const started = performance.now()
let result = await part('generate', 'npm run --silent generate')
if (result.status === 0) result = await part('check', 'npm run --silent check:sources')
if (result.status === 0) result = await part('build', 'node scripts/build-tests.js')
if (result.status === 0) {
  const chosen = run === 'ci' ? fullTestsOfChanges(console.log) : []
  const environment = { TEST_RUN: run, TEST_USAGE: usage, TEST_FULL: chosen.join(' ') }
  const command = ['npx ava', ...parameters].join(' ')
  result = await part('tests', command, { ...environment, ...(seed !== undefined && { TEST_SEED: seed }) })
}
const { status, output } = result

console.log(`\nSeconds of processor, and of time:\n${table([...files(), ...parts])}`)
const passed = output.match(/^ {2}✔ /gm)?.length ?? 0
let failed = output.match(/^ {2}✘ /gm)?.length ?? 0
// A run that ends badly without a failed test, or without any test.
if (failed === 0 && (status !== 0 || passed === 0)) failed = 1
if (failed > 0) console.log(`\nWhat failed, again:\n${failures(output)}`)
console.log(`\n${Math.round((performance.now() - started) / 1_000)} s in all`)
console.log(`${passed} passed, ${failed} failed`)
rmSync(folder, { recursive: true })
process.exitCode = failed === 0 ? 0 : 1

/**
 * What failed outside of tests, then ava's report of the tests that failed, which begins with its first rule; or all, if a
 * part before the tests failed.
 *
 * @param {string} text
 */
function failures(text) {
  const outside =
    text.match(/^ {2}✘ .*\n|^ {2}(?:Uncaught exception|Unhandled rejection)(?:.*\n){1,12}/gm) ?? []
  return [...outside, text.slice(text.indexOf('\n  ─\n') + 1)].join('')
}
