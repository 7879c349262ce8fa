import { generated } from '../tables/generated.ts'
import {
  addConstraint,
  createIndex,
  dropConstraint,
  dropIndex,
  dropTrigger,
  keepRowCount,
} from '../tables/statements.ts'
import type { Difference, Pair, Problem } from './comparison.ts'
import type { Step } from './step.ts'

/** The constraints, indexes and triggers of an existing table. */
export function objectDifference(pair: Pair): Difference {
  const problems = keyProblems(pair)
  if (problems.length > 0) return { steps: [], raises: [], problems }
  return { steps: [...constraints(pair), ...indexes(pair), ...triggers(pair)], raises: [], problems }
}

function keyProblems({ table: { name, primaryKey, resource }, stored, wanted }: Pair): Problem[] {
  const [now, then] = [stored.constraints.get(primaryKey.name), wanted.constraints.get(primaryKey.name)]
  if (now === then) return []
  const text =
    `${resource.path}: the primary key of the table ${name} is ${now ?? 'missing'}, but the definition needs ${then}. ` +
    'You cannot change the kind or the owner of a resource: define a new resource, and write a migration that copies the rows.'
  return [{ table: name, text }]
}

/** A changed object is dropped and added. */
function changes({ stored: of, wanted: all }: Pair, kind: keyof ReturnType<typeof generated>) {
  const [stored, wanted] = [of[kind], all[kind]]
  const gone = generated(of)[kind].filter((name) => !wanted.has(name))
  const different = [...wanted.keys()].filter(
    (name) => stored.has(name) && stored.get(name) !== wanted.get(name),
  )
  const missing = [...wanted.keys()].filter((name) => !stored.has(name))
  return { dropped: [...gone, ...different], added: [...missing, ...different] }
}

/** New constraints are NOT VALID: they hold for later writes, and `narrowing.ts` counts the rows that violate them. */
function constraints(pair: Pair): Step[] {
  const { table, wanted } = pair
  const { name } = table
  const { dropped, added } = changes(pair, 'constraints')
  const known = [...table.checks, ...table.foreignKeys]
  return [
    ...dropped.map((constraint): Step => {
      const says = added.includes(constraint) ? undefined : `The constraint ${constraint} is dropped.`
      return { phase: 'drop', table: name, says, sql: [dropConstraint(name, constraint)] }
    }),
    ...added.map((constraint): Step => {
      const { text = wanted.constraints.get(constraint) as string, refersTo } =
        known.find((one) => one.name === constraint) ?? {}
      const says = `The constraint ${constraint} is ${dropped.includes(constraint) ? 'replaced' : 'added'}: ${text}.`
      const sql = [addConstraint(name, { name: constraint, text }, ' NOT VALID')]
      if (refersTo === undefined) return { phase: 'check', table: name, says, sql }
      const locks = { [name]: 'SHARE ROW EXCLUSIVE', [refersTo]: 'SHARE ROW EXCLUSIVE' } as const
      return { phase: 'constraint', table: name, says, locks, sql }
    }),
  ]
}

function indexes(pair: Pair): Step[] {
  const { name, indexes } = pair.table
  const { dropped, added } = changes(pair, 'indexes')
  const created = added.flatMap((index) => indexes.filter((one) => one.name === index))
  return [
    ...dropped.map((index): Step => {
      const says = added.includes(index) ? undefined : `The index ${index} is dropped.`
      return { phase: 'drop', table: name, says, sql: [dropIndex(index)] }
    }),
    ...created.map((index): Step => {
      const condition = index.unique
        ? ` It is unique: if two rows have the same values, the migration fails and changes nothing.`
        : ''
      return {
        phase: 'index',
        table: name,
        says: `The index ${index.name} is created on ${index.needsTrigrams ? 'all texts, for searches' : index.text}.${condition}`,
        locks: { [name]: 'SHARE' },
        work: `reads every row for ${index.name}`,
        sql: [createIndex(name, index)],
      }
    }),
  ]
}

const COUNTS = /_row_count_(insert|update|delete)$/

function triggers(pair: Pair): Step[] {
  const { table, stored, wanted } = pair
  const { name } = table
  const { dropped, added } = changes(pair, 'triggers')
  const isCountMissing = added.some((trigger) => COUNTS.test(trigger))
  // keep_row_count creates all of them and counts the rows.
  const counting = isCountMissing ? [...stored.triggers.keys()].filter((trigger) => COUNTS.test(trigger)) : []
  const outdated = [...new Set([...dropped, ...counting])]
  const renewed = added.filter((trigger) => !COUNTS.test(trigger))
  const sql = [
    ...outdated.map((trigger) => dropTrigger(name, trigger)),
    ...renewed.map((trigger) => wanted.triggers.get(trigger) as string),
    ...(isCountMissing ? [keepRowCount(name)] : []),
  ]
  if (sql.length === 0) return []
  return [
    {
      phase: 'trigger',
      table: name,
      says: 'The triggers that keep versions, tombstones and row counts are created again.',
      ...(isCountMissing && { work: 'counts the rows' }),
      sql,
    },
  ]
}
