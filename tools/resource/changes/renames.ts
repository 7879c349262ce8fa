import { escapeLiteral as literal, escapeIdentifier as quoted } from 'pg'
import type { Resource } from '../../../src/model/definition/resource.ts'
import type { Catalogue, StoredTable } from '../tables/catalogue.ts'
import { constraintNames, indexNames } from '../tables/generated.ts'
import { changeStates } from '../tables/statements.ts'
import { makeTable, type Table } from '../tables/table.ts'
import { formerResources } from './former.ts'
import type { Step } from './step.ts'

/** The declared renames of tables and columns, and of all objects named after them. */
export function renames(resources: readonly Resource[], current: Catalogue): Step[] {
  const formers = formerResources(resources, current).map(makeTable)
  const tables = resources.map((resource, index) => [formers[index] as Table, makeTable(resource)] as const)
  return freeing(tables, nameOf).flatMap(([from, to]) => {
    const stored = current.get(from.name)
    return stored ? renamesOf(from, to, stored) : []
  })
}

function renamesOf(from: Table, to: Table, stored: StoredTable): Step[] {
  const step = { phase: 'rename', table: to.name, locks: { [from.name]: 'ACCESS EXCLUSIVE' } } as const
  const columns = changed(pairs(from.columns.map(nameOf), to.columns.map(nameOf)), stored.columns)
  return [
    ...(from.name === to.name
      ? []
      : [
          {
            ...step,
            says: `The resource ${from.resource.path} is renamed to ${to.resource.path}.`,
            gone: from.name,
            sql: renameTable(from, to),
          },
        ]),
    ...columns.map(([old, name]) => ({
      ...step,
      says: `The field ${old} is renamed to ${name}.`,
      gone: old,
      sql: renameColumn(to, old, name),
    })),
    ...objectRenames(from, to, stored).map((sql) => ({ ...step, sql: [sql] })),
  ]
}

/** A trigger protects tombstones against changes, so it is disabled meanwhile. */
function renameTable(from: Table, to: Table): string[] {
  const [old, path] = [literal(from.resource.path), literal(to.resource.path)]
  const move = (table: string) =>
    `UPDATE ${quoted(table)} SET "collection" = ${path} WHERE "collection" = ${old}`
  return [
    `ALTER TABLE ${quoted(from.name)} RENAME TO ${quoted(to.name)}`,
    ...['tombstones', 'tombstone_sets'].flatMap((table) => [
      `ALTER TABLE ${quoted(table)} DISABLE TRIGGER ${quoted(`${table}_kept`)}`,
      move(table),
      `ALTER TABLE ${quoted(table)} ENABLE TRIGGER ${quoted(`${table}_kept`)}`,
    ]),
    move('idempotency_keys'),
    move('recorded_changes'),
    `UPDATE "row_counts" SET "collection" = ${literal(to.name)} WHERE "collection" = ${literal(from.name)}`,
  ]
}

/** Stored responses to requests with an idempotency key, and recorded changes, contain rows, too. */
function renameColumn({ name: table, resource }: Table, old: string, name: string): string[] {
  const from = literal(old)
  const renamed = (state: string) =>
    `jsonb_set(${state} - ${from}, ARRAY[${literal(name)}], ${state} -> ${from})`
  return [
    `ALTER TABLE ${quoted(table)} RENAME COLUMN ${quoted(old)} TO ${quoted(name)}`,
    `UPDATE "idempotency_keys" SET "answer" = ${renamed('"answer"')} WHERE "collection" = ${literal(resource.path)} AND "answer" ? ${from}`,
    `UPDATE "recorded_changes" SET "resource" = ${renamed('"resource"')} WHERE "collection" = ${literal(resource.path)} AND "resource" ? ${from}`,
    changeStates(resource.path, old, renamed),
  ]
}

/** Also of objects that the definition no longer has, so that later steps find them by their new names. */
function objectRenames(from: Table, to: Table, stored: StoredTable): string[] {
  const columns = new Map(pairs(from.columns.map(nameOf), to.columns.map(nameOf)))
  const renamed = (column: string) => columns.get(column) ?? column
  const existing = [...stored.columns.keys()]
  const constraints = [
    ...pairs(constraintNames(from.name, existing), constraintNames(to.name, existing.map(renamed))),
    ...pairs(constraintsOf(from), constraintsOf(to)),
  ]
  const indexes = [
    ...pairs(indexNames(from.name, stored), indexNames(to.name, stored, renamed)),
    ...pairs(from.indexes.map(nameOf), to.indexes.map(nameOf)),
  ]
  return [
    ...changed(constraints, stored.constraints).map(
      ([old, name]) => `ALTER TABLE ${quoted(to.name)} RENAME CONSTRAINT ${quoted(old)} TO ${quoted(name)}`,
    ),
    ...changed(indexes, stored.indexes).map(
      ([old, name]) => `ALTER INDEX ${quoted(old)} RENAME TO ${quoted(name)}`,
    ),
  ]
}

function constraintsOf({ name, primaryKey, checks, foreignKeys }: Table): string[] {
  return [`${name}_id_check`, ...[primaryKey, ...checks, ...foreignKeys].map(nameOf)]
}

type Pair = readonly [old: string, name: string]

/** Pairs of names at the same index of two lists, those that change last: a new column can have a former name. */
function pairs(from: readonly string[], to: readonly string[]): Pair[] {
  const all = from.map((old, index): Pair => [old, to[index] ?? old])
  return all.sort((one, other) => Number(one[0] !== one[1]) - Number(other[0] !== other[1]))
}

/** The existing names that change, each by its last pair, in an order in which each new name is free. */
function changed(names: readonly Pair[], existing: ReadonlyMap<string, unknown>): Pair[] {
  const all = [...new Map(names)].filter(([old, name]) => old !== name && existing.has(old))
  return freeing(all, (name) => name)
}

/** Renames that take a name away come before those that give it to another. */
function freeing<One>(
  all: readonly (readonly [old: One, now: One])[],
  name: (one: One) => string,
): (readonly [old: One, now: One])[] {
  const takes = ([old]: readonly [One, One], [, now]: readonly [One, One]) => name(old) === name(now)
  const next = all.find((one) => !all.some((other) => other !== one && takes(other, one)))
  const others = all.filter((one) => one !== next)
  return next ? [next, ...freeing(others, name)] : [...all]
}

function nameOf({ name }: { readonly name: string }): string {
  return name
}
