// @ts-check
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** @typedef {import('./mutate/coverage.js').Executed} Executed */

/** Where a measurement of `npm run mutate` is, with the commit that it measured. */
const MEASURED = /^halgraph-coverage-.*\.json$/

/**
 * The test files `*.full.test.ts` that execute a line of src which was changed since the commit that `npm run mutate` last
 * measured, or that were changed themselves. All of them when that cannot be told: there is no measurement of an ancestor, or
 * something else changed that they depend on.
 *
 * @param {(reason: string) => void} log
 * @returns {readonly string[]}
 */
export function fullTestsOfChanges(log) {
  const all = git('ls-files', 'test').filter((file) => file.endsWith('.full.test.ts'))
  const measured = newestMeasurement()
  const reason = !measured
    ? 'no measurement of `npm run mutate` on this machine is of an ancestor of this commit'
    : otherChange(measured.commit)
  if (!measured || reason) {
    log(`All ${all.length} *.full.test.ts run: ${reason}.`)
    return all
  }
  const { commit, coverage } = measured
  const changed = changedLines(commit)
  const chosen = all.filter((test) => {
    const executed = coverage.get(test)
    if (!executed || changed.has(test)) return true
    return [...changed].some(([file, lines]) => lines.some((line) => executed.lines[file]?.includes(line)))
  })
  log(
    `${chosen.length} of ${all.length} *.full.test.ts execute what changed since ${commit}: ${chosen.join(' ')}`,
  )
  return chosen
}

/** The newest measurement of a commit that this one descends from. */
function newestMeasurement() {
  const files = readdirSync(tmpdir())
    .filter((name) => MEASURED.test(name))
    .map((name) => join(tmpdir(), name))
    .sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)
  for (const file of files) {
    const commitFile = `${file}.commit`
    if (!existsSync(commitFile)) continue
    const commit = readFileSync(commitFile, 'utf8').trim()
    if (!isAncestor(commit)) continue
    return {
      commit,
      coverage: /** @type {Map<string, Executed>} */ (new Map(JSON.parse(readFileSync(file, 'utf8')))),
    }
  }
  return undefined
}

/** @param {string} commit */
function isAncestor(commit) {
  return spawnSync('git', ['merge-base', '--is-ancestor', commit, 'HEAD']).status === 0
}

/** A lock file, a script, a migration or a helper is no line of which a test is known to execute it. */
const TOLD = /^(docs\/|src\/(?!pages\/(browser|styles|explorer)).*\.ts$|test\/.*\.test\.ts$|[A-Z]+\.md$)/

/** @param {string} commit */
function otherChange(commit) {
  const other = git('diff', '--name-only', commit).find((file) => !TOLD.test(file))
  return other === undefined ? undefined : `${other} changed since the last measurement`
}

/**
 * The lines that changed since a commit, by file, numbered as they were there. Of an addition, those around it.
 *
 * @param {string} commit
 */
function changedLines(commit) {
  /** @type {Map<string, number[]>} */
  const changed = new Map()
  let file = ''
  for (const line of git('diff', '-U0', '--no-color', commit, '--', 'src', 'test')) {
    if (line.startsWith('--- ')) file = line.replace(/^--- (a\/)?/, '')
    const [, start, count = '1'] = /^@@ -(\d+)(?:,(\d+))? /.exec(line) ?? []
    if (start === undefined) continue
    const lines = Array.from({ length: Math.max(Number(count), 2) }, (_, index) => Number(start) + index)
    changed.set(file, [...(changed.get(file) ?? []), ...lines])
  }
  return changed
}

/** @param {string[]} parameters */
function git(...parameters) {
  return execFileSync('git', parameters, { encoding: 'utf8', maxBuffer: 2 ** 28 })
    .split('\n')
    .filter((line) => line !== '')
}
