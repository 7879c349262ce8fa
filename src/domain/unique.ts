import { quoted, tableOf } from '../database/sql/statement.ts'
import type { Change } from './model/database-rule.ts'
import { DomainError } from './model/errors.ts'
import type { Leaf, Resource } from './model/resource.ts'

/**
 * Refuses a change to a unique value that another resource has. The unique index would refuse it too, but two
 * callers who swap values would wait for each other in the index until PostgreSQL ends the deadlock after a
 * second (`deadlock_timeout`).
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

/** RESOURCE_ALREADY_EXISTS (409) for a field whose value another resource has. */
export function duplicateValue({ path }: Resource, field: string): DomainError {
  const message = `Another resource in ${path} already has this ${field}.`
  return new DomainError('RESOURCE_ALREADY_EXISTS', message, [{ field, code: 'DUPLICATE_VALUE', message }])
}

function isUnique({ field }: Leaf): boolean {
  return field.type === 'text' && field.unique === true
}
