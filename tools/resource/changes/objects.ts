import { generatedConstraints, generatedIndexes, generatedTriggers } from '../tables/generated.ts'
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
function changes(stored: ReadonlyMap<string, string>, wanted: ReadonlyMap<string, string>, owned: string[]) {
  const gone = owned.filter((name) => !wanted.has(name))
  const different = [...wanted.keys()].filter(
    (name) => stored.has(name) && stored.get(name) !== wanted.get(name),
  )
  const missing = [...wanted.keys()].filter((name) => !stored.has(name))
  return { dropped: [...gone, ...different], added: [...missing, ...different] }
}

/** New constraints are NOT VALID: they hold for later writes, and `narrowing.ts` counts the rows that violate them. */
function constraints({ table, stored, wanted }: Pair): Step[] {
  const { name } = table
  const { dropped, added } = changes(stored.constraints, wanted.constraints, generatedConstraints(stored))
  const known = new Map(
    [...table.checks, ...table.foreignKeys].map((constraint) => [constraint.name, constraint]),
  )
  return [
    ...dropped.map(
      (constraint): Step => ({
        phase: 'drop',
        table: name,
        ...(!added.includes(constraint) && { says: `The constraint ${constraint} is dropped.` }),
        locks: { [name]: 'ACCESS EXCLUSIVE' },
        sql: [dropConstraint(name, constraint)],
      }),
    ),
    ...added.map((constraint): Step => {
      const { text = wanted.constraints.get(constraint) as string, refersTo } = known.get(constraint) ?? {}
      const isReplaced = dropped.includes(constraint)
      return {
        phase: refersTo === undefined ? 'check' : 'constraint',
        table: name,
        says: `The constraint ${constraint} is ${isReplaced ? 'replaced' : 'added'}: ${text}.`,
        locks: {
          [name]: refersTo === undefined ? 'ACCESS EXCLUSIVE' : 'SHARE ROW EXCLUSIVE',
          ...(refersTo !== undefined && refersTo !== name && { [refersTo]: 'SHARE ROW EXCLUSIVE' }),
        },
        sql: [addConstraint(name, { name: constraint, text }, ' NOT VALID')],
      }
    }),
  ]
}

function indexes({ table, stored, wanted }: Pair): Step[] {
  const { name } = table
  const { dropped, added } = changes(stored.indexes, wanted.indexes, generatedIndexes(stored))
  const known = new Map(table.indexes.map((index) => [index.name, index]))
  return [
    ...dropped.map(
      (index): Step => ({
        phase: 'drop',
        table: name,
        ...(!added.includes(index) && { says: `The index ${index} is dropped.` }),
        locks: { [name]: 'ACCESS EXCLUSIVE' },
        sql: [dropIndex(index)],
      }),
    ),
    ...added.flatMap((added): Step[] => {
      const index = known.get(added)
      if (!index) return []
      const condition = index.unique
        ? ` It is unique: if two rows have the same values, the migration fails and changes nothing.`
        : ''
      return [
        {
          phase: 'index',
          table: name,
          says: `The index ${added} is created on ${index.needsTrigrams ? 'all texts, for searches' : index.text}.${condition}`,
          locks: { [name]: 'SHARE' },
          work: `reads every row for ${added}`,
          sql: [createIndex(name, index)],
        },
      ]
    }),
  ]
}

const COUNTS = /_row_count_(insert|delete)$/

function triggers({ table: { name }, stored, wanted }: Pair): Step[] {
  const { dropped, added } = changes(stored.triggers, wanted.triggers, generatedTriggers(stored))
  const isCountMissing = added.some((trigger) => COUNTS.test(trigger))
  // keep_row_count creates both triggers and counts the rows.
  const counting = isCountMissing ? [...stored.triggers.keys()].filter((trigger) => COUNTS.test(trigger)) : []
  const outdated = [...new Set([...dropped, ...counting])]
  const locks = { [name]: 'ACCESS EXCLUSIVE' } as const
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
      locks,
      ...(isCountMissing && { work: 'counts the rows' }),
      sql,
    },
  ]
}
