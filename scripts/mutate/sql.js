// @ts-check
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe } from './mutant.js'

/** @import { Copy } from './copy.js' */
/** @import { Fault, Mutant } from './mutant.js' */

/** What each piece of SQL may become. */
const REPLACEMENTS = /** @type {const} */ ([
  [/\bAND\b/g, 'OR'],
  [/\bOR\b(?! REPLACE)/g, 'AND'],
  [/ = /g, ' <> '],
  [/ <> /g, ' = '],
  [/ < /g, ' <= '],
  [/ > /g, ' >= '],
  [/ <= /g, ' < '],
  [/ >= /g, ' > '],
  [/ \+ /g, ' - '],
  [/\bIS NOT NULL\b/g, 'IS NULL'],
  [/\bIS NULL\b/g, 'IS NOT NULL'],
  [/\bNOT EXISTS\b/g, 'EXISTS'],
  [/\bDESC\b/g, 'ASC'],
  [/\bASC\b/g, 'DESC'],
  [/\bmax\(/g, 'min('],
  [/\bGREATEST\(/g, 'LEAST('],
  [/\bOLD\./g, 'NEW.'],
  [/\bNEW\./g, 'OLD.'],
  [/ FOR UPDATE\b/g, ''],
  [/ DISTINCT\b/g, ''],
  [/\bTRUE\b/g, 'FALSE'],
  [/(?<=[ (,])\d+(?=[ ),;]|$)/g, '7'],
])

/** @param {string} text */
export function isSql(text) {
  return /\b(SELECT|FROM|WHERE|ORDER BY|UPDATE|INSERT|DELETE|AND|OR|IS NULL|NULLS)\b/.test(text)
}

/** @param {string} sql @returns {Fault[]} */
export function sqlFaults(sql) {
  return REPLACEMENTS.flatMap(([pattern, text]) =>
    [...sql.matchAll(pattern)].map((match) => ({
      start: match.index,
      end: match.index + match[0].length,
      text,
    })),
  )
}

/** A function of the engine, or a constraint or trigger that a migration makes. */
const FUNCTION = /^CREATE (?:OR REPLACE )?FUNCTION (\w+)\([\s\S]*?\$\$[\s\S]*?\$\$[^;]*;/gm

const FUNCTION_NAME = /^CREATE OR REPLACE FUNCTION (\w+)/gm

/**
 * The faults of the functions that migrations create and none removes: of the last definition of each. A migration of the
 * engine and its copy among those of the built-in domain get the same fault.
 *
 * @param {Copy} copy
 * @returns {Mutant[]}
 */
export function findSqlMutants(copy) {
  const migrations = copy.files.filter((file) => /^prisma\/migrations\/.*\.sql$/.test(file)).sort()
  const engine = copy.files.filter((file) => /^prisma\/engine\/.*\.sql$/.test(file))
  const read = (/** @type {string} */ file) => readFileSync(join(copy.folder, file), 'utf8')
  const remaining = new Set([...read('prisma/baseline.sql').matchAll(FUNCTION_NAME)].map(([, name]) => name))
  /** @type {Map<string, Mutant[]>} */
  const byFunction = new Map()
  for (const file of migrations) {
    const text = read(file)
    const copies = engine.filter((other) => read(other) === text)
    for (const match of text.matchAll(FUNCTION)) {
      if (!remaining.has(match[1])) continue
      const statement = match[0].replace(/--.*$/gm, (comment) => ' '.repeat(comment.length))
      const faults = sqlFaults(statement).map((fault) => ({
        ...fault,
        start: match.index + fault.start,
        end: match.index + fault.end,
      }))
      byFunction.set(
        match[1] ?? '',
        faults.map((fault) => ({ ...describe(file, text, fault), copies })),
      )
    }
  }
  return [...byFunction.values()].flat()
}
