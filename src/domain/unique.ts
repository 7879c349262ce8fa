import { type Client, modelOf } from '../database/client.ts'
import { quoted, tableOf } from '../database/sql/statement.ts'
import type { Change } from './model/database-rule.ts'
import { DomainError } from './model/errors.ts'
import { type Address, isAddress } from './model/identifiers.ts'
import type { Leaf, Resource } from './model/resource.ts'

/**
 * Refuses a change to a unique value that another resource has. The unique index has the last word, but it
 * makes two callers who swap values wait for each other, until PostgreSQL ends the deadlock after a second
 * (`deadlock_timeout`). Each sees here that the other still has the value.
 *
 * @throws {DomainError} RESOURCE_ALREADY_EXISTS (409)
 */
export async function refuseTakenValues(
  { client, address: { id }, before, after }: Change,
  resource: Resource,
): Promise<void> {
  for (const leaf of resource.leaves.filter(isUnique)) {
    const value = after?.[leaf.column] ?? null
    if (value === null || value === before?.[leaf.column]) continue
    const text = `SELECT id FROM ${tableOf(resource)}
      WHERE folded(${quoted(leaf.column)}) = folded($1) AND id <> $2`
    const others = await client.$rows({ text, values: [value, id] })
    if (others.length > 0) throw duplicateValue(resource, leaf.name)
  }
}

/**
 * Refuses a creation whose body has the identifier of an existing resource: it was meant for that one.
 *
 * @throws {DomainError} RESOURCE_ALREADY_EXISTS (409)
 */
export async function refuseTakenIdentifier(
  client: Client,
  resource: Resource,
  address: Address,
): Promise<void> {
  if (!isAddress(address)) return
  if (await modelOf(client, resource).lookUp(resource, address)) throw duplicateValue(resource, 'id')
}

/** RESOURCE_ALREADY_EXISTS (409), naming the field whose value another resource has. */
export function duplicateValue({ path }: Resource, field: string): DomainError {
  const message = `Another resource in ${path} already has this ${field}.`
  return new DomainError('RESOURCE_ALREADY_EXISTS', message, [{ field, code: 'DUPLICATE_VALUE', message }])
}

function isUnique({ field }: Leaf): boolean {
  return field.type === 'text' && field.unique === true
}
