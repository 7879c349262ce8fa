import { escapeIdentifier as quoted } from 'pg'
import { tableName } from '../../../src/model/definition/resource.ts'
import type { Catalogue } from '../tables/catalogue.ts'
import { addConstraint, dropConstraint, raiseVersions } from '../tables/statements.ts'
import type { Table } from '../tables/table.ts'
import { columnDifference } from './columns.ts'
import { type Decisions, type Difference, type Pair, pairs, together } from './comparison.ts'
import { objectDifference } from './objects.ts'
import type { Step } from './step.ts'
import { tableDifference } from './tables.ts'

/**
 * Changes the current tables into the desired ones. Objects written by hand are ignored.
 *
 * @param all also those that are not changed
 */
export function difference(
  tables: readonly Table[],
  current: Catalogue,
  desired: Catalogue,
  decisions: Decisions,
  all = tables,
): Difference {
  const found = together([
    tableDifference(tables, current, decisions),
    ...pairs(tables, current, desired).flatMap((pair) => [
      columnDifference(pair, decisions),
      objectDifference(pair),
    ]),
  ])
  const raises = found.raises.filter(({ table }) => all.some(({ name }) => name === table))
  return { ...found, raises }
}

/** One step for each table whose rows need a new version. */
export function raising(raises: Difference['raises']): Step[] {
  const tables = new Map<string, Set<string>>()
  for (const { table, condition } of raises)
    tables.set(table, (tables.get(table) ?? new Set()).add(condition))
  return [...tables].map(([table, conditions]): Step => {
    const all = conditions.has('TRUE')
    const condition = all ? 'TRUE' : [...conditions].join(' OR ')
    return {
      phase: 'raise',
      table,
      says: `${all ? 'Every row gets' : 'Rows with a value in a removed or renamed field get'} a new version, because the representation changes.`,
      locks: { [table]: 'SHARE ROW EXCLUSIVE' },
      work: all ? 'writes every row' : 'writes the rows with a value',
      sql: raiseVersions(table, condition),
    }
  })
}

/** Checks that existing rows may violate are dropped while the migration writes rows of their tables. */
export function suspending(steps: readonly Step[], found: readonly Pair[]): Step[] {
  const written = steps.flatMap(({ phase, table }) => (['fill', 'raise'].includes(phase) ? [table] : []))
  const statements = steps.flatMap(({ sql }) => sql)
  return found.flatMap(({ table: { name: table }, stored: { constraints, unchecked } }) =>
    [...constraints].flatMap(([name, text]): Step[] => {
      const drop = dropConstraint(table, name)
      if (!written.includes(table) || !unchecked.has(name) || statements.includes(drop)) return []
      if (!text.startsWith('CHECK')) return []
      return [
        { phase: 'drop', table, sql: [drop] },
        { phase: 'check', table, sql: [addConstraint(table, { name, text }, ' NOT VALID')] },
      ]
    }),
  )
}

/** A rename changes the representation of rows: the name of a member, or the URL in a link. */
export function raisesOfRenames(tables: readonly Table[], formerTables: readonly Table[]) {
  return tables.flatMap((table, index) => {
    const former = formerTables[index] as Table
    const renamed = table.columns.filter(({ name }, place) => former.columns[place]?.name !== name)
    return [
      ...renamed.map(({ name }) => ({ table: table.name, condition: `${quoted(name)} IS NOT NULL` })),
      ...renamed.flatMap(({ leaf }) =>
        leaf?.field.type === 'reference' ? [{ table: tableName(leaf.field.to), condition: 'TRUE' }] : [],
      ),
      ...(former.name === table.name ? [] : linked(table, tables)),
    ]
  })
}

/** The tables whose representations link to a resource: its parent, the targets of its references, and the reverse. */
function linked({ name, foreignKeys }: Table, tables: readonly Table[]): Difference['raises'] {
  const targets = foreignKeys.map(({ refersTo }) => refersTo as string)
  const referring = tables.filter((other) => other.foreignKeys.some(({ refersTo }) => refersTo === name))
  return [...targets, ...referring.map((other) => other.name)]
    .filter((table) => table !== name)
    .map((table) => ({ table, condition: 'TRUE' }))
}
