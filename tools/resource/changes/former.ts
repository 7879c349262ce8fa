import { type Leaf, type Resource, tableName } from '../../../src/model/definition/resource.ts'
import type { Catalogue, StoredTable } from '../tables/catalogue.ts'

/**
 * The definition with the names that the database still has: those in `renamedFrom`, and the column of a parent with a
 * new name.
 */
export function formerResource(resource: Resource, current: Catalogue): Resource {
  const path = formerPath(resource, current)
  const stored = current.get(tableName(path))
  if (!stored) return resource
  const parentField = formerParent(resource, stored)
  const leaves = resource.leaves.map((leaf) => ({
    ...leaf,
    column: formerColumn(leaf, resource, stored, parentField),
  }))
  return { ...resource, path, parentField, leaves }
}

function formerPath({ path, renamedFrom }: Resource, current: Catalogue): string {
  const isRenamed =
    renamedFrom !== undefined && !current.has(tableName(path)) && current.has(tableName(renamedFrom))
  return isRenamed ? renamedFrom : path
}

function formerColumn(leaf: Leaf, resource: Resource, { columns }: StoredTable, former?: string): string {
  const { column, field } = leaf
  if (column === resource.parentField) return former ?? column
  if (column === resource.createdField && !columns.has(column)) return formerCreated(resource, columns)
  const renamed = field.renamedFrom?.replaceAll('.', '_')
  return renamed !== undefined && !columns.has(column) && columns.has(renamed) ? renamed : column
}

/** The former creation timestamp is the column that has the clock as its default and is in no definition. */
function formerCreated({ createdField, leaves }: Resource, columns: StoredTable['columns']): string {
  const isKnown = (name: string) => leaves.some(({ column }) => column === name)
  const found = [...columns].find(
    ([name, column]) => column.default?.includes('statement_timestamp') && !isKnown(name),
  )
  return found?.[0] ?? createdField
}

/** The first column of the primary key of an owned resource is the identifier of its parent. */
function formerParent(
  { parentField }: Resource,
  { name, columns, constraints }: StoredTable,
): string | undefined {
  if (parentField === undefined || columns.has(parentField)) return parentField
  return /^PRIMARY KEY \((\w+), id\)$/.exec(constraints.get(`${name}_pkey`) ?? '')?.[1] ?? parentField
}
