import { isDeepStrictEqual } from 'node:util'
import { type Field, isRequired, kindOf, type LeafField } from './definition/fields.ts'
import type { Leaf, Resource, Values } from './definition/resource.ts'
import { type Detail, type DetailCode, refuseInvalid } from './errors.ts'
import { valueAt } from './rows/columns.ts'
import { isBlank, isObject } from './values.ts'

/** The content of a body. `values` has only the valid fields; nothing is converted except timestamps. */
export interface Inspection {
  readonly values: Values
  /** Read-only fields and members as sent, to be compared with the stored ones. */
  readonly readOnly: Values
  /** All problems, in the order of the fields. */
  readonly details: readonly Detail[]
}

/** Members that HAL and HAL-FORMS add to a representation, and that a client may send back. */
export const HAL_MEMBERS = new Set(['_links', '_embedded', '_templates'])

/** Unknown members with a detail of their own. A body can have ten thousand. */
const MAXIMUM_UNKNOWN = 50

/**
 * Checks a whole resource against its definition: types, required fields, bounds, unknown fields and the
 * rules that need only the body (SPEC §2.1, §4.3–4.5). Null is the same as an unset field.
 */
export function inspectResource(resource: Resource, body: unknown): Inspection {
  const inspection = inspectBody(resource, body, false)
  if (!isObject(body)) return inspection
  const details = [
    ...inspection.details,
    ...missingRequiredFields(resource, inspection),
    ...(resource.checks ?? []).flatMap((check) => check(inspection.values, undefined)),
  ]
  return { ...inspection, details: inFieldOrder(resource, details) }
}

/**
 * Checks a merge patch as far as possible without the resource: null removes a member, and no member is
 * required (SPEC §4.6, RFC 7396).
 */
export function inspectPatch(resource: Resource, body: unknown): Inspection {
  const inspection = inspectBody(resource, body, true)
  return { ...inspection, details: inFieldOrder(resource, inspection.details) }
}

/**
 * Compares the read-only fields of a body with the stored ones. They must be equal (null for an unset field),
 * except that `last_updated` may be any timestamp since the creation: an earlier state of the resource
 * (SPEC §4.5).
 *
 * @throws {DomainError} VALIDATION_FAILED (400) with a READ_ONLY_FIELD for each different field
 */
export function refuseReadOnlyChanges(resource: Resource, sent: Values, stored: Values): void {
  const changed = resource.leaves.filter((leaf) => {
    const step = (inner: unknown, name: string) => (isObject(inner) ? inner[name] : undefined)
    const value = leaf.path.reduce(step, sent)
    return value !== undefined && !isEcho(resource, leaf, value, stored)
  })
  refuseInvalid(changed.map(({ name }) => readOnlyDetail(name)))
}

export function readOnlyDetail(name: string): Detail {
  return {
    field: name,
    code: 'READ_ONLY_FIELD',
    message: `${name} is read-only, and the value differs from the stored one.`,
  }
}

/** Checks what a body has against the shown fields; its read-only ones stay as they were sent. */
export function inspectBody(
  { shownFields, writableFields }: Resource,
  body: unknown,
  isPatch: boolean,
): Inspection {
  const details: Detail[] = []
  const report = (field: string, code: DetailCode, message: string) =>
    void details.push({ field, code, message })

  /** A patch may remove members of a merged value with null, so only the others are checked. */
  function inspectLeaf(name: string, field: LeafField, value: unknown): unknown {
    const kind = kindOf(field)
    const isMerge = isPatch && kind.isJson && isObject(value)
    const checked = kind.check(field, isMerge ? without(null, value) : value)
    if ('problem' in checked) return report(name, checked.code, `${name} ${checked.problem}.`)
    return isMerge ? value : checked.value
  }

  function inspectMembers(fields: Readonly<Record<string, Field>>, members: Values, prefix: string) {
    const values: Record<string, unknown> = {}
    const readOnly: Record<string, unknown> = {}
    details.push(...unknownFields(fields, members, prefix))
    for (const [name, field] of Object.entries(fields)) {
      if (!Object.hasOwn(members, name)) continue
      const value = members[name]
      const place = prefix + name
      const isSettable = prefix !== '' || Object.hasOwn(writableFields, name)
      if (field.readOnly) {
        if (isPatch || value !== null) readOnly[name] = value
      } else if (value === null) values[name] = isPatch && isSettable ? null : undefined
      else if (field.type !== 'group') values[name] = inspectLeaf(place, field, value)
      else if (isObject(value)) {
        const inner = inspectMembers(field.fields, value, `${place}.`)
        if (isSettable) values[name] = inner.values
        if (Object.keys(inner.readOnly).length > 0) readOnly[name] = inner.readOnly
      } else report(place, 'INVALID_TYPE', `${place} must be an object.`)
    }
    return { values: without(undefined, values), readOnly }
  }

  if (!isObject(body)) report('', 'INVALID_TYPE', 'The body must be a JSON object.')
  return { ...inspectMembers(shownFields, isObject(body) ? body : {}, ''), details }
}

function missingRequiredFields(resource: Resource, { values, details }: Inspection): Detail[] {
  const reported = new Set(details.map(({ field }) => field))
  return resource.leaves
    .filter((leaf) => {
      const { field, name, path } = leaf
      const value = valueAt(values, leaf)
      const isMissing = value === undefined ? isRequired(field) : typeof value === 'string' && isBlank(value)
      if (!field.required || !isMissing) return false
      return !reported.has(name) && !reported.has(path[0] as string)
    })
    .map(({ name }) => ({ field: name, code: 'REQUIRED_FIELD', message: `${name} is required.` }))
}

function inFieldOrder(resource: Resource, details: readonly Detail[]): readonly Detail[] {
  if (details.length < 2) return details
  const names = resource.leaves.flatMap(({ path, name }) => [path[0], name])
  const position = ({ field }: Detail) => (names.includes(field) ? names.indexOf(field) : names.length)
  return [...details].sort((one, other) => position(one) - position(other))
}

function unknownFields(fields: Readonly<Record<string, Field>>, members: Values, prefix: string): Detail[] {
  const isHal = (name: string) => prefix === '' && HAL_MEMBERS.has(name)
  const unknown = Object.keys(members).filter((name) => !Object.hasOwn(fields, name) && !isHal(name))
  if (unknown.length === 0) return []
  const settable = Object.keys(fields).filter((name) => !fields[name]?.readOnly)
  return unknown.slice(0, MAXIMUM_UNKNOWN + 1).map((member, index) => {
    const name = prefix + member
    const others = `${unknown.length - MAXIMUM_UNKNOWN - 1} more are not listed`
    const addition = index < MAXIMUM_UNKNOWN ? `the fields are ${settable.join(', ')}` : others
    const message = `${name.slice(0, 100)} is not a field here; ${addition}.`
    return { field: name.slice(0, 200), code: 'UNKNOWN_FIELD', message }
  })
}

function without(unset: null | undefined, values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== unset))
}

function isEcho(resource: Resource, leaf: Leaf, sent: unknown, stored: Values): boolean {
  const { name, field } = leaf
  if (sent === null) return valueAt(stored, leaf) === undefined
  const checked = kindOf(field).check(field, sent)
  if (!('value' in checked)) return false
  if (name === 'last_updated') {
    const updated = checked.value as Date
    return updated >= (stored[resource.createdField] as Date) && updated <= (stored['last_updated'] as Date)
  }
  return isDeepStrictEqual(checked.value, valueAt(stored, leaf))
}
