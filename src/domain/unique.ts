import { prismaModel } from '../database/extension.ts'
import { quoted, quotedTable } from '../database/sql/statement.ts'
import { allows } from '../model/authorize.ts'
import type { Change } from '../model/database-rule.ts'
import { type DomainError, errorAt } from '../model/errors.ts'
import { uniqueBy, uniquenessOf } from '../model/fields.ts'
import { isResourceKey } from '../model/identifiers.ts'
import type { Resource } from '../model/resource.ts'
import type { ClientChange } from './rules.ts'

/**
 * Refuses a change to a unique value that another resource has. The unique index would refuse it too, but two
 * callers who swap values would wait for each other in the index until PostgreSQL ends the deadlock after a
 * second (`deadlock_timeout`).
 *
 * @throws {DomainError} RESOURCE_ALREADY_EXISTS (409)
 */
export async function refuseTakenValues(
  { client, caller, key: { parentId, id }, before, after }: Omit<Change, 'isInTransaction' | 'settings'>,
  resource: Resource,
): Promise<void> {
  const { parentField } = resource
  for (const leaf of resource.leaves) {
    const scope = uniquenessOf(leaf.field)
    const value = after?.[leaf.column] ?? null
    if (!scope || value === null || value === before?.[leaf.column]) continue
    const isWithinParent = scope === 'parent' && parentField !== undefined
    const compared = (operand: string) => uniqueBy(leaf.field, operand)
    const text = `SELECT id FROM ${quotedTable(resource)}
      WHERE ${compared(quoted(leaf.column))} = ${compared('$1')} AND id <> $2
      ${isWithinParent ? `AND ${quoted(parentField)} = $3` : ''}`
    const values = isWithinParent ? [value, id, parentId] : [value, id]
    const [other] = await client.$rows<{ id: string }>({ text, values })
    if (other)
      throw duplicateValue(resource, leaf.name, allows(caller, resource, 'read') ? other.id : undefined)
  }
}

/**
 * Refuses a creation whose body has the identifier of an existing resource: it was meant for that one.
 *
 * @throws {DomainError} RESOURCE_ALREADY_EXISTS (409)
 */
export async function refuseTakenIdentifier(
  { client, caller, key }: ClientChange,
  resource: Resource,
  id: string,
): Promise<void> {
  const other = { ...key, id }
  if (!isResourceKey(other) || !(await prismaModel(client, resource).findByKey(resource, other))) return
  const isNamed = allows(caller, resource, 'read') && !resource.owner
  throw duplicateValue(resource, 'id', isNamed ? id : undefined)
}

/**
 * RESOURCE_ALREADY_EXISTS (409) for a field whose value another resource has.
 *
 * @param id of that resource, if the caller may read it
 */
export function duplicateValue({ path }: Resource, field: string, id?: string): DomainError {
  const message = `${id === undefined ? 'Another resource' : `The resource ${JSON.stringify(id)}`} in ${path} already has this ${field}.`
  const error = errorAt(field, 'DUPLICATE_VALUE', 'RESOURCE_ALREADY_EXISTS', message)
  return id === undefined ? error : Object.assign(error, { related: { path, id } })
}
