import { quoted, quotedTable } from '../database/sql/statement.ts'
import { unrestricted } from '../model/access/access.ts'
import { ownedBy, referencesTo } from '../model/definition/relations.ts'
import type { Resource } from '../model/definition/resource.ts'
import { errorAt } from '../model/errors.ts'
import { keyColumns, keyOf, keyText } from '../model/rows/identifiers.ts'
import type { DataChange } from './context.ts'
import { WriteConflict } from './transaction.ts'

/** Resources with rules, or above such resources, that one deletion may also delete. */
const MAXIMUM = 10_000

const ALL_ROWS = unrestricted('dependencies are facts of the whole collection')

interface Dependent {
  readonly resource: Resource
  /** The column with the identifier of the resource that it depends on. */
  readonly column: string
}

/** What the database deletes together with a resource: what it owns, and what refers to it with `cascade`. */
function dependentsOf(resource: Resource, resources: readonly Resource[]): Dependent[] {
  const owned = ownedBy(resource, resources).map((one) => ({
    resource: one,
    column: one.parentField as string,
  }))
  const referring = referencesTo(resource, resources).filter(({ leaf }) => leaf.field.onDelete === 'cascade')
  return [...owned, ...referring.map(({ from, leaf }) => ({ resource: from, column: leaf.column }))]
}

/** Whether a resource, or what is deleted together with it, has a database rule that can refuse a deletion. */
function isRuled(resource: Resource, resources: readonly Resource[], visited = new Set<Resource>()): boolean {
  if (visited.has(resource)) return false
  visited.add(resource)
  const below = dependentsOf(resource, resources)
  const rule = resource.databaseRule
  if (rule && !rule.permitsDeletions) return true
  return below.some((one) => isRuled(one.resource, resources, visited))
}

/** By the resources of a domain, because finding them takes longer than a deletion. */
const dependentsByDomain = new WeakMap<readonly Resource[], Map<Resource, readonly Dependent[]>>()

/** The dependents of a resource whose deletion a rule can refuse, directly or indirectly. */
export function ruledDependents(resource: Resource, resources: readonly Resource[]): readonly Dependent[] {
  const ofDomain = dependentsByDomain.get(resources) ?? new Map<Resource, readonly Dependent[]>()
  dependentsByDomain.set(resources, ofDomain)
  const dependents =
    ofDomain.get(resource) ??
    dependentsOf(resource, resources).filter((one) => isRuled(one.resource, resources))
  ofDomain.set(resource, dependents)
  return dependents
}

/**
 * Runs the database rules of all that the database deletes together with a resource, in the transaction of the deletion.
 * Locks them first: they are deleted in the state that the rules have seen, and no others are added.
 *
 * @throws {DomainError} of a rule; DEPENDENCY_CONFLICT (409) if they are more than 10,000
 * @throws {WriteConflict} if another request has changed the resource
 */
export async function refuseBrokenDeletions(
  change: DataChange,
  resource: Resource,
  resources: readonly Resource[],
): Promise<void> {
  const { client } = change
  const checked = new Set<string>()
  const lock = async (target: Resource, column: string, ids: readonly string[]) => {
    const text = `SELECT id FROM ${quotedTable(target)} WHERE ${quoted(column)} = ANY($1)
      ORDER BY id LIMIT ${MAXIMUM + 1} FOR UPDATE`
    return (await client.$rows({ text, values: [ids] })).length
  }
  const check = async (target: Resource, ids: readonly string[]): Promise<void> => {
    for (const { resource: dependent, column } of ruledDependents(target, resources)) {
      const count = await lock(dependent, column, ids)
      if (count === 0) continue
      if (checked.size + count > MAXIMUM) throw tooMany(dependent)
      const where = { [column]: { in: ids } }
      const rows = await client.findMany(dependent, { where, orderBy: { id: 'asc' } }, ALL_ROWS)
      const added = rows.filter((row) => {
        const name = `${dependent.path} ${keyText(keyOf(dependent, row))}`
        return !checked.has(name) && checked.add(name)
      })
      for (const before of added)
        await dependent.databaseRule?.({ ...change, key: keyOf(dependent, before), before, after: undefined })
      await check(
        dependent,
        added.map(({ id }) => id),
      )
    }
  }
  await lock(resource, 'id', [change.key.id])
  await refuseOtherVersion(change, resource)
  await check(resource, [change.key.id])
}

/** The rules may change the resource, so the deletion itself cannot compare its version. */
async function refuseOtherVersion({ client, key, before }: DataChange, resource: Resource): Promise<void> {
  if (!before) return
  const where = { ...keyColumns(resource, key), version: before.version }
  const same = await client.findMany(resource, { where }, ALL_ROWS)
  if (same.length === 0) throw new WriteConflict()
}

function tooMany({ path }: Resource) {
  const message = `It cannot be deleted together with more than ${MAXIMUM} resources that have rules. Delete some of its ${path} first.`
  return errorAt('id', 'RESOURCE_IN_USE', 'DEPENDENCY_CONFLICT', message)
}
