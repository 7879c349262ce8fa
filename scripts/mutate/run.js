// @ts-check
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { runTests } from './coverage.js'

/** @import { Copy } from './copy.js' */
/** @import { Coverage } from './coverage.js' */
/** @import { Mutant } from './mutant.js' */

/** So many of the test files that execute a line run in one call. */
const CALLS = [3, 6, 15, Infinity]

/** The tests that notice most faults of the functions of the database, in the order in which they run. */
const SQL_TESTS = [/^test\/transcripts\//, /\/(changes|versions)\./, /^test\/(database|domain)\//, /./]

/** @typedef {{ outcome: 'noticed' | 'survived' | 'invalid', reason: string }} Result */

/**
 * Makes the fault, runs the tests that execute its line, and takes it back.
 *
 * @param {Copy} copy
 * @param {Coverage} coverage
 * @param {Mutant} mutant
 * @param {number} maximum how many test files run at most
 * @returns {Promise<Result>}
 */
export async function runMutant(copy, coverage, mutant, maximum) {
  const all = testsFor(coverage, mutant)
  const tests = all.slice(0, maximum)
  if (tests.length === 0) return { outcome: 'survived', reason: 'no test executes the line' }
  const files = [mutant.file, ...(mutant.copies ?? [])].map((file) => join(copy.folder, file))
  const original = await readFile(files[0] ?? '', 'utf8')
  const faulty = original.slice(0, mutant.start) + mutant.text + original.slice(mutant.end)
  for (const file of files) await writeFile(file, faulty)
  try {
    if (!(await compiles(copy))) return { outcome: 'invalid', reason: 'does not compile' }
    let start = 0
    for (const count of CALLS) {
      const part = tests.slice(start, start + count)
      start += count
      const failure = part.length > 0 ? await runTests(copy, part) : undefined
      if (failure) return { outcome: 'noticed', reason: failedTest(failure) }
    }
    return { outcome: 'survived', reason: `${tests.length} of ${all.length} test files` }
  } finally {
    for (const file of files) await writeFile(file, original)
  }
}

/**
 * The test files that execute the line: those with the name of its file and the transcripts first, then those of the same
 * room, those that take long last, and else those that execute the fewest lines first. Which ones execute a script of a
 * page or a function of the database is not measured: all tests of pages, or all tests.
 *
 * @param {Coverage} coverage
 * @param {Mutant} mutant
 */
export function testsFor(coverage, { file, line }) {
  const [, room = ''] = file.split('/')
  const isLater = (/** @type {string} */ test) =>
    4 * Number(!test.includes(`/${basename(file, '.ts')}.`) && !test.startsWith('test/transcripts/')) +
    2 * Number(test.endsWith('.full.test.ts')) +
    Number(!test.startsWith(`test/${room}/`))
  const bySize = [...coverage].sort(
    ([one, { size }], [other, { size: otherSize }]) => isLater(one) - isLater(other) || size - otherSize,
  )
  if (/^src\/pages\/.*\.js$/.test(file))
    return bySize.map(([test]) => test).filter((test) => /^test\/(pages|screenshots)\//.test(test))
  if (file.endsWith('.sql')) {
    const rank = (/** @type {string} */ test) => SQL_TESTS.findIndex((pattern) => pattern.test(test))
    return bySize.map(([test]) => test).sort((one, other) => rank(one) - rank(other))
  }
  return bySize.filter(([, { lines }]) => lines[file]?.includes(line)).map(([test]) => test)
}

/** @param {Copy} copy */
async function compiles(copy) {
  const compiler = join(copy.folder, 'node_modules/typescript/bin/tsc')
  return promisify(execFile)(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--noEmit'], {
    cwd: copy.folder,
  }).then(
    () => true,
    () => false,
  )
}

/** @param {string} output */
function failedTest(output) {
  const [, title] = /^ {2}✘ (.+)$/m.exec(output) ?? []
  return title ?? output.trim().split('\n').at(-1) ?? 'failed'
}
