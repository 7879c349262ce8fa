// @ts-check
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { decode } from '@jridgewell/sourcemap-codec'

/** @import { Copy } from './copy.js' */

/** Which lines each test file executes: `lines` by test file and source. `size` is the number of all its lines.
 *
 * @typedef {{ readonly lines: Record<string, readonly number[]>, readonly size: number }} Executed
 * @typedef {ReadonlyMap<string, Executed>} Coverage
 */

/**
 * Which lines of `src` each test file executes, measured by V8, or read from the last measurement of the same sources,
 * which may have been interrupted. Test files that fail without a fault are left out, and reported.
 *
 * @param {Copy} copy
 * @param {readonly string[]} tests
 * @returns {Promise<Coverage>}
 */
export async function readCoverage(copy, tests) {
  const stored = join(tmpdir(), `halgraph-coverage-${copy.fingerprint}.json`)
  /** @type {Map<string, Executed>} */
  const coverage = new Map(existsSync(stored) ? JSON.parse(await readFile(stored, 'utf8')) : [])
  const waiting = tests.filter((test) => !coverage.has(test))
  if (waiting.length > 0) console.log(`Measuring which lines ${waiting.length} test files execute …`)
  const work = async () => {
    for (let test = waiting.shift(); test !== undefined; test = waiting.shift()) {
      const executed = await measure(copy, test)
      if (executed) coverage.set(test, executed)
      else console.log(`Left out, because it fails without a fault: ${test}`)
      writeFileSync(stored, JSON.stringify([...coverage]))
      if (copy.commit !== undefined) writeFileSync(`${stored}.commit`, copy.commit)
    }
  }
  await Promise.all(cpus().map(work))
  return new Map([...coverage].filter(([test]) => tests.includes(test)))
}

/**
 * @param {Copy} copy
 * @param {string} test
 * @returns {Promise<Executed | undefined>} undefined if it fails
 */
async function measure(copy, test) {
  const results = join(copy.folder, 'coverage', test)
  await mkdir(results, { recursive: true })
  const failure = await runTests(copy, [test], { NODE_V8_COVERAGE: results })
  const executed = failure ? undefined : executedLines(copy.folder, results)
  await rm(results, { recursive: true, force: true })
  return executed
}

/** A line of ava's for a test, hook or file that failed. */
const FAILED = /^ {2}✘ .+\n/m

/** A fault can make tests wait for ever. */
const LONGEST_RUN_MILLISECONDS = 900_000

/**
 * Runs test files with ava until one fails. Tests with random values try as few as `npm test` does.
 *
 * @param {Copy} copy
 * @param {readonly string[]} tests
 * @param {Record<string, string>} [environment]
 * @returns {Promise<string | undefined>} what ava printed, if a test failed or did not end
 */
export async function runTests(copy, tests, environment = {}) {
  const ava = join(copy.folder, 'node_modules/ava/entrypoints/cli.mjs')
  const child = spawn(process.execPath, [ava, '--fail-fast', '--timeout=90s', ...tests], {
    cwd: copy.folder,
    env: { ...process.env, FORCE_COLOR: '0', TEST_RUN: 'quick', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own, with the processes that tests start.
    detached: true,
  })
  let output = ''
  const collect = (/** @type {Buffer} */ part) => {
    output += part
    // The other files of the call would go on, and a test that failed may leave something open.
    if (FAILED.test(output)) killGroup(child)
  }
  for (const stream of [child.stdout, child.stderr]) stream.on('data', collect)
  const timer = setTimeout(() => killGroup(child), LONGEST_RUN_MILLISECONDS)
  const [status] = await once(child, 'close')
  clearTimeout(timer)
  killGroup(child)
  return status === 0 ? undefined : output || 'did not end'
}

/** @param {import('node:child_process').ChildProcess} child */
function killGroup({ pid }) {
  try {
    process.kill(-(pid ?? 0), 'SIGKILL')
  } catch {
    // All of them have ended.
  }
}

/** Where the service is, for itself and for the tests. */
const OUTPUTS = ['dist', 'test/dist']

/**
 * The lines of sources that the processes of a test executed.
 *
 * @param {string} folder
 * @param {string} results
 * @returns {Executed}
 */
function executedLines(folder, results) {
  /** @type {Map<string, Set<number>>} */
  const lines = new Map()
  for (const name of readdirSync(results)) {
    const { result } = JSON.parse(readFileSync(join(results, name), 'utf8'))
    for (const { url, functions } of result) {
      if (!OUTPUTS.some((output) => url.startsWith(`file://${folder}/${output}/`))) continue
      const script = scriptOf(fileURLToPath(url), folder)
      if (!script) continue
      const counts = countsAt(functions, script.length)
      for (const { offset, source, line } of script.places) {
        if (!counts[offset]) continue
        const known = lines.get(source) ?? new Set()
        lines.set(source, known.add(line))
      }
    }
  }
  const size = [...lines.values()].reduce((sum, { size }) => sum + size, 0)
  return { lines: Object.fromEntries([...lines].map(([source, set]) => [source, [...set]])), size }
}

/**
 * Whether each character was executed. Ranges are nested: the inner ones come later and count.
 *
 * @param {{ ranges: { startOffset: number, endOffset: number, count: number }[] }[]} functions
 * @param {number} length
 */
function countsAt(functions, length) {
  const counts = new Uint8Array(length)
  for (const { ranges } of functions)
    for (const { startOffset, endOffset, count } of ranges)
      counts.fill(count > 0 ? 1 : 0, startOffset, endOffset)
  return counts
}

/** @typedef {{ offset: number, source: string, line: number }} Place */

/** @type {Map<string, { length: number, places: Place[] } | undefined>} */
const scripts = new Map()

/**
 * Where each place of a built script comes from, by its source map.
 *
 * @param {string} path
 * @param {string} folder
 */
function scriptOf(path, folder) {
  if (!scripts.has(path)) scripts.set(path, existsSync(`${path}.map`) ? readScript(path, folder) : undefined)
  return scripts.get(path)
}

/** @param {string} path @param {string} folder */
function readScript(path, folder) {
  const text = readFileSync(path, 'utf8')
  const { mappings, sources } = JSON.parse(readFileSync(`${path}.map`, 'utf8'))
  const names = sources.map((/** @type {string} */ source) => relative(folder, join(dirname(path), source)))
  /** @type {Place[]} */
  const places = []
  let start = 0
  const segments = decode(mappings)
  for (const [index, line] of text.split('\n').entries()) {
    for (const [column, source, original] of segments[index] ?? []) {
      if (source === undefined || original === undefined || !names[source].startsWith('src/')) continue
      places.push({ offset: start + column, source: names[source], line: original + 1 })
    }
    start += line.length + 1
  }
  return { length: text.length, places }
}
