// @ts-check
import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runTests } from './coverage.js'

/** @import { Copy } from './copy.js' */
/** @import { Coverage } from './coverage.js' */
/** @import { Mutant } from './mutant.js' */

/** So many test files run in one call. */
const FILES_PER_CALL = 3

/** Whole responses notice about half of all faults, in a few seconds. */
export const TRANSCRIPTS = 'test/transcripts/transcripts.test.ts'

/** The test files that notice most faults of the functions of the database. */
const SQL_TESTS = /\/suites\/(record|every-resource|database|migrations)\.ci\./

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
    if (!compiles(copy)) return { outcome: 'invalid', reason: 'does not compile' }
    // Alone, the first one is fast.
    for (let [start, end] = [0, 1]; start < tests.length; [start, end] = [end, end + FILES_PER_CALL]) {
      const failure = await runTests(copy, tests.slice(start, end))
      if (failure) return { outcome: 'noticed', reason: failedTest(failure) }
    }
    return { outcome: 'survived', reason: `${tests.length} of ${all.length} test files` }
  } finally {
    for (const file of files) await writeFile(file, original)
  }
}

/**
 * The test files that execute the line: the transcripts, the suites, other files, and those that take long; of each, those
 * first of which the source is the largest part. Which ones execute a script of a page or a function of the database is not
 * measured: all tests of pages, or all tests.
 *
 * @param {Coverage} coverage
 * @param {Mutant} mutant
 */
export function testsFor(coverage, { file, executedLine }) {
  const tests = [...coverage.keys()]
  if (/^src\/pages\/.*\.js$/.test(file))
    return tests.filter((test) => /^test\/(pages|screenshots)\//.test(test)).sort()
  const isSql = file.endsWith('.sql')
  /** @param {string} test */
  const rank = (test) => {
    if (test === TRANSCRIPTS) return 3
    if (test.endsWith('.full.test.ts')) return 0
    if (isSql) return 1 + Number(SQL_TESTS.test(test))
    const { lines, size } = coverage.get(test) ?? { lines: {}, size: 1 }
    return 1 + Number(test.startsWith('test/suites/')) + (lines[file]?.length ?? 0) / size
  }
  return tests
    .filter((test) => isSql || coverage.get(test)?.lines[file]?.includes(executedLine))
    .sort((one, other) => rank(other) - rank(one))
}

/** @param {Copy} copy */
function compiles({ folder }) {
  const compiler = join(folder, 'node_modules/typescript/bin/tsc')
  const parameters = [compiler, '-p', 'tsconfig.build.json', '--noEmit']
  return spawnSync(process.execPath, parameters, { cwd: folder }).status === 0
}

/** @param {string} output */
function failedTest(output) {
  const [, title] = /^ {2}✘ (.+)$/m.exec(output) ?? []
  return title ?? output.trim().split('\n').at(-1) ?? 'failed'
}
