import type { Resource } from '../../src/model/definition/resource.ts'
import { exchangedNames, renamedColumn, renamedResource } from './changes/former.ts'
import { makeTable, type Table } from './tables/table.ts'

/** PostgreSQL truncates longer names without an error. */
const LONGEST_NAME = 63

/** The columns and indexes of these definitions whose names are too long, or not unique. */
export function nameProblems(resources: readonly Resource[]): string[] {
  const tables = resources.map(makeTable)
  return [
    ...tables.flatMap(problemsOfTable),
    ...repeatedRelations(tables),
    ...exchanged('The resources', exchangedNames(resources.map(renamedResource))),
    ...resources.flatMap(({ path, leaves }) =>
      exchanged(`${path}: the fields`, exchangedNames(leaves.map(renamedColumn))),
    ),
  ]
}

function exchanged(what: string, names: readonly string[]): string[] {
  if (names.length === 0) return []
  return [
    `${what} ${names.join(' and ')} exchange their names, and nothing shows whether that was done. Give one of them a name of its own first, and remove renamedFrom afterwards.`,
  ]
}

function problemsOfTable({ name, columns, checks, foreignKeys, indexes, resource }: Table): string[] {
  const names = columns.map((column) => column.name)
  const twice = names.filter((column, index) => names.indexOf(column) !== index)
  const objects = [
    `${name}_row_count_insert`,
    ...[...columns, ...checks, ...foreignKeys, ...indexes].map((object) => object.name),
  ]
  const long = objects.filter((object) => Buffer.byteLength(object) > LONGEST_NAME)
  return [
    ...twice.map((column) => `${resource.path}: two fields have the column ${column}.`),
    ...long.map(
      (object) =>
        `${resource.path}: ${object} is longer than ${LONGEST_NAME} bytes. Shorten the field or the path.`,
    ),
  ]
}

/** In a schema of PostgreSQL, tables and indexes have different names. */
function repeatedRelations(tables: readonly Table[]): string[] {
  const relations = new Map<string, string[]>()
  const add = (name: string, what: string) => relations.set(name, [...(relations.get(name) ?? []), what])
  for (const { name, primaryKey, indexes, resource } of tables) {
    add(name, `the table of ${resource.path}`)
    add(primaryKey.name, `the primary key of ${resource.path}`)
    for (const index of indexes) add(index.name, `an index of ${resource.path} on ${index.text}`)
  }
  return [...relations].flatMap(([name, whats]) =>
    whats.length > 1
      ? [`${name} would be the name of ${whats.join(' and of ')}. Rename a field or a resource.`]
      : [],
  )
}
