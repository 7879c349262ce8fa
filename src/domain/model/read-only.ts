import { isDeepStrictEqual } from 'node:util'
import { type Detail, refuseInvalid } from './errors.ts'
import type { Field } from './fields.ts'
import type { Resource, Values } from './resource.ts'
import { checkValue } from './values.ts'

/**
 * Compares the read-only fields of a body with the stored ones. They must be equal (null for an unset field),
 * except that `last_updated` may be any timestamp since the creation: an earlier state of the resource
 * (SPEC §4.5).
 *
 * @throws {DomainError} VALIDATION_FAILED (400) with a READ_ONLY_FIELD for each different field
 */
export function refuseReadOnlyChanges(resource: Resource, sent: Values, stored: Values): void {
  refuseInvalid(
    Object.entries(sent)
      .filter(([name, value]) => value !== undefined && !isEcho(resource, name, value, stored))
      .map(([name]) => readOnlyDetail(name)),
  )
}

/** The detail for an attempt to change a read-only field. */
export function readOnlyDetail(name: string): Detail {
  return { field: name, code: 'READ_ONLY_FIELD', message: `${name} is read-only and has another value.` }
}

function isEcho(resource: Resource, name: string, sent: unknown, stored: Values): boolean {
  if (sent === null) return stored[name] === undefined
  const checked = checkValue(resource.allFields[name] as Exclude<Field, { type: 'group' }>, sent)
  if (!('value' in checked)) return false
  if (name === 'last_updated') {
    const updated = checked.value as Date
    return updated >= (stored[resource.createdField] as Date) && updated <= (stored['last_updated'] as Date)
  }
  return isDeepStrictEqual(checked.value, stored[name])
}
