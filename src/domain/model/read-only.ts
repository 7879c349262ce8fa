import { isDeepStrictEqual } from 'node:util'
import { type Detail, refuseInvalid } from './errors.ts'
import type { Field } from './fields.ts'
import type { Resource, Values } from './resource.ts'
import { checkValue } from './values.ts'

/**
 * Compares what a body says of read-only fields with what is stored. Equal is fine, with null for what is
 * not set, and so is a `last_updated` from between creation and now: an honest echo of an earlier state
 * (SPEC §4.5).
 *
 * @throws {DomainError} VALIDATION_FAILED (400) with a READ_ONLY_FIELD for each that differs
 */
export function refuseReadOnlyChanges(resource: Resource, sent: Values, stored: Values): void {
  refuseInvalid(
    Object.entries(sent)
      .filter(([name, value]) => value !== undefined && !isEcho(resource, name, value, stored))
      .map(([name]) => readOnlyDetail(name)),
  )
}

/** The detail for a read-only field that a caller tried to change. */
export function readOnlyDetail(name: string): Detail {
  return { field: name, code: 'READ_ONLY_FIELD', message: `${name} is read-only and has another value.` }
}

function isEcho(resource: Resource, name: string, sent: unknown, stored: Values): boolean {
  if (sent === null) return stored[name] === undefined
  const checked = checkValue(resource.allFields[name] as Exclude<Field, { type: 'group' }>, sent)
  if (!('value' in checked)) return false
  if (name === 'last_updated') {
    const moment = checked.value as Date
    return moment >= (stored[resource.createdField] as Date) && moment <= (stored['last_updated'] as Date)
  }
  return isDeepStrictEqual(checked.value, stored[name])
}
