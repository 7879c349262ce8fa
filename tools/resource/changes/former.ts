import { type Leaf, type Resource, tableName } from '../../../src/model/definition/resource.ts'
import type { Catalogue, StoredTable } from '../tables/catalogue.ts'

/** A name of a definition, and the one that `renamedFrom` says it had. */
interface Renamed {
  readonly name: string
  readonly former?: string | undefined
}

/**
 * The renames that were not made yet, by the new name: that name is missing, or another rename takes it away.
 *
 * @param has whether the database has a name
 */
export function openRenames(names: readonly Renamed[], has: (name: string) => boolean): Map<string, string> {
  const open = new Map<string, string>()
  const taken = new Set<string>()
  for (let size = -1; size < open.size; ) {
    size = open.size
    for (const { name, former = name } of names) {
      if (former === name || open.has(name) || !has(former) || (has(name) && !taken.has(name))) continue
      open.set(name, former)
      taken.add(former)
    }
  }
  return open
}

/** The names that renames exchange, so that nothing in a database shows whether they were made. */
export function exchangedNames(names: readonly Renamed[]): string[] {
  const formerOf = new Map(names.map(({ name, former }) => [name, former]))
  return names.flatMap(({ name, former }) => {
    const passed = new Set<string>()
    let one = former
    while (one !== undefined && one !== name && !passed.has(one)) {
      passed.add(one)
      one = formerOf.get(one)
    }
    return one === name && former !== name ? [name] : []
  })
}

export function renamedResource({ path, renamedFrom }: Resource): Renamed {
  return { name: tableName(path), former: renamedFrom && tableName(renamedFrom) }
}

export function renamedColumn({ column, field }: Leaf): Renamed {
  return { name: column, former: field.renamedFrom?.replaceAll('.', '_') }
}

/**
 * The definitions with the names that the database still has: those in `renamedFrom`, and the column of a parent with a
 * new name.
 */
export function formerResources(resources: readonly Resource[], current: Catalogue): Resource[] {
  const open = openRenames(resources.map(renamedResource), (name) => current.has(name))
  return resources.map((resource) => {
    const table = tableName(resource.path)
    const path = open.has(table) ? (resource.renamedFrom as string) : resource.path
    const stored = current.get(tableName(path))
    if (!stored) return resource
    const parentField = formerParent(resource, stored)
    const columns = openRenames(resource.leaves.map(renamedColumn), (name) => stored.columns.has(name))
    const leaves = resource.leaves.map((leaf) => ({
      ...leaf,
      column: formerColumn(leaf, resource, stored, parentField) ?? columns.get(leaf.column) ?? leaf.column,
    }))
    return { ...resource, path, parentField, leaves }
  })
}

/** Of a column that the engine names. */
function formerColumn({ column }: Leaf, resource: Resource, { columns }: StoredTable, former?: string) {
  if (column === resource.parentField) return former ?? column
  const isMissing = column === resource.createdField && !columns.has(column)
  return isMissing ? formerCreated(resource, columns) : undefined
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
function formerParent({ parentField }: Resource, { name, columns, constraints }: StoredTable) {
  if (parentField === undefined || columns.has(parentField)) return parentField
  return /^PRIMARY KEY \((\w+), id\)$/.exec(constraints.get(`${name}_pkey`) ?? '')?.[1] ?? parentField
}
