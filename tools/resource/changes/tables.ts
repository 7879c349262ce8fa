import { escapeLiteral as literal, escapeIdentifier as quoted } from 'pg'
import { type Catalogue, isServed, type StoredTable, targetsOf } from '../tables/catalogue.ts'
import { addConstraint, createTable, dropConstraint } from '../tables/statements.ts'
import type { Table } from '../tables/table.ts'
import type { Decisions } from './comparison.ts'
import type { Lock, Step } from './step.ts'

/** New tables, and tables of resources without a definition. */
export function tableDifference(tables: readonly Table[], current: Catalogue, decisions: Decisions) {
  const added = tables.filter(({ name }) => !current.has(name))
  const wanted = new Set(tables.map(({ name }) => name))
  const removed = [...current.values()].filter((stored) => isServed(stored) && !wanted.has(stored.name))
  return {
    steps: [...added.flatMap((table) => creation(table, added)), ...removed.flatMap(removal)],
    raises: removed.flatMap(({ constraints }) =>
      targetsOf([...constraints.values()]).map((target) => ({ table: target, condition: 'TRUE' })),
    ),
    problems: decisions.allowDataLoss
      ? []
      : removed.map(({ name }) => ({
          table: name,
          text: lostRows(name, added),
          rows: { condition: 'TRUE', what: 'values' },
        })),
  }
}

/** Foreign keys are added after all tables. */
function creation(table: Table, added: readonly Table[]): Step[] {
  const { name, resource, foreignKeys } = table
  const step: Step = {
    phase: 'create',
    table: name,
    says: `The resource ${resource.path} is new: its table, constraints, indexes and triggers are created.`,
    locks: {},
    sql: createTable(table),
  }
  const isNew = (target: string) => added.some((other) => other.name === target)
  const keys = foreignKeys.map((key): Step => {
    const target = key.refersTo as string
    const locks: Record<string, Lock> = isNew(target) ? {} : { [target]: 'SHARE ROW EXCLUSIVE' }
    return { phase: 'constraint', table: name, locks, sql: [addConstraint(name, key)] }
  })
  return [step, ...keys]
}

/** Deleting the rows before the table leaves tombstones, so a later resource of that name continues the versions. */
function removal({ name, constraints }: StoredTable): Step[] {
  const keys = [...constraints].filter(([, text]) => text.startsWith('FOREIGN KEY')).map(([key]) => key)
  const targets = targetsOf([...constraints.values()]).map((target) => [target, 'ACCESS EXCLUSIVE'] as const)
  const locks = { [name]: 'ACCESS EXCLUSIVE', ...Object.fromEntries(targets) } as const
  const path = literal(name.replaceAll('_', '-'))
  return [
    { phase: 'drop', table: name, locks, sql: keys.map((key) => dropConstraint(name, key)) },
    {
      phase: 'empty',
      table: name,
      says: `The resource ${name.replaceAll('_', '-')} is removed WITH ALL ITS ROWS. Their tombstones stay.`,
      locks,
      work: 'deletes every row',
      sql: [
        `DELETE FROM ${quoted(name)}`,
        `DELETE FROM "row_counts" WHERE "collection" = ${literal(name)}`,
        `DELETE FROM "idempotency_keys" WHERE "collection" = ${path}`,
      ],
    },
    { phase: 'remove', table: name, locks, gone: name, sql: [`DROP TABLE ${quoted(name)}`] },
  ]
}

function lostRows(table: string, added: readonly Table[]): string {
  const path = table.replaceAll('_', '-')
  const hint =
    added.length > 0
      ? ` If ${added.map(({ resource }) => resource.path).join(' or ')} is its new name, declare it there: renamedFrom: '${path}'.`
      : ''
  return `${path}: all its rows would be lost, because it has no definition any more.${hint} To delete them, add --allow-data-loss.`
}
