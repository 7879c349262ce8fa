import type { Detail, DetailCode } from './errors.ts'
import type { Field, GroupField, LeafField } from './fields.ts'
import type { Resource, Rule, Values } from './resource.ts'
import { checkValue, isObject } from './values.ts'

/** What a body was found to hold. `values` has only what is valid; nothing was converted but timestamps. */
export interface Inspection {
  readonly values: Values
  /** What the body says of read-only fields, as it was sent: only a comparison can tell if it is right. */
  readonly readOnly: Values
  /** All problems, in the order of the fields. */
  readonly details: readonly Detail[]
}

/** Members that HAL adds to a representation and that a client may send back (RFC draft-kelly-json-hal §4.1). */
const HAL_MEMBERS = new Set(['_links', '_embedded'])

/**
 * Checks a whole resource against its definition: types, required fields, bounds, unknown fields and
 * the checks that need no other knowledge (SPEC §2.1, §4.3–4.5). Null counts as absent.
 */
export function inspectResource(resource: Resource, body: unknown): Inspection {
  if (!isObject(body)) return notAnObject()
  const inspection = inspectMembers(resource, body, false)
  const missing = missingRequiredFields(resource, inspection)
  const broken = runRules(resource.checks, inspection.values, undefined)
  return { ...inspection, details: inFieldOrder(resource, [...inspection.details, ...missing, ...broken]) }
}

/**
 * Checks a merge patch as far as that can be done without the resource it is for: a member may be
 * null, which removes it, and none is required (SPEC §4.6, RFC 7396).
 */
export function inspectPatch(resource: Resource, body: unknown): Inspection {
  if (!isObject(body)) return notAnObject()
  const inspection = inspectMembers(resource, body, true)
  return { ...inspection, details: inFieldOrder(resource, inspection.details) }
}

/** Runs rules over valid values and gathers what they report. */
export function runRules(
  rules: readonly Rule[] | undefined,
  values: Values,
  before: Values | undefined,
): Detail[] {
  return (rules ?? []).flatMap((rule) => rule(values, before))
}

function notAnObject(): Inspection {
  const details = [detail('', 'INVALID_TYPE', 'The body must be a JSON object.')]
  return { values: {}, readOnly: {}, details }
}

function inspectMembers(resource: Resource, body: Values, patch: boolean): Inspection {
  const values: Record<string, unknown> = {}
  const readOnly: Record<string, unknown> = {}
  const details: Detail[] = []
  const known = namesOf(resource.shownFields)
  for (const [name, value] of Object.entries(body)) {
    if (HAL_MEMBERS.has(name)) continue
    const field = ownField(resource.shownFields, name)
    if (!field) details.push(unknown(name, known))
    else if (field.readOnly) {
      if (patch || value !== null) readOnly[name] = value
    } else if (value === null) values[name] = patch ? null : undefined
    else if (field.type === 'group') values[name] = inspectGroup(name, field, value, patch, details)
    else if (patch && field.type === 'fractions') values[name] = inspectFractions(name, field, value, details)
    else values[name] = inspectLeaf(name, field, value, details)
  }
  return { values: withoutUndefined(values), readOnly, details }
}

function inspectGroup(
  name: string,
  group: GroupField,
  value: unknown,
  patch: boolean,
  details: Detail[],
): unknown {
  if (!isObject(value)) {
    details.push(detail(name, 'INVALID_TYPE', `${name} must be an object.`))
    return undefined
  }
  const members: Record<string, unknown> = {}
  const known = namesOf(group.fields)
  for (const [member, inner] of Object.entries(value)) {
    const path = `${name}.${member}`
    const field = ownField(group.fields, member)
    if (!field) details.push(unknown(path, known))
    else if (inner === null) members[member] = patch ? null : undefined
    else members[member] = inspectLeaf(path, field as LeafField, inner, details)
  }
  return withoutUndefined(members)
}

/** A patch may remove single fractions: those are null, and the rest must be right. */
function inspectFractions(name: string, field: LeafField, value: unknown, details: Detail[]): unknown {
  const kept = isObject(value) ? withoutNull(value) : value
  return inspectLeaf(name, field, kept, details) && value
}

function inspectLeaf(name: string, field: LeafField, value: unknown, details: Detail[]): unknown {
  const checked = checkValue(field, value)
  if ('value' in checked) return checked.value
  details.push(detail(name, checked.code, `${name} ${checked.problem}.`))
  return undefined
}

function missingRequiredFields(resource: Resource, { values, details }: Inspection): Detail[] {
  const reported = new Set(details.map(({ field }) => field))
  return Object.entries(resource.fields)
    .filter(
      ([name, field]) => field.type !== 'group' && field.required && !field.readOnly && !reported.has(name),
    )
    .filter(([name]) => isBlank(values[name]))
    .map(([name]) => detail(name, 'REQUIRED_FIELD', `${name} is required.`))
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
}

function inFieldOrder(resource: Resource, details: readonly Detail[]): Detail[] {
  const order = new Map(fieldNames(resource).map((name, index) => [name, index]))
  const position = ({ field }: Detail) => order.get(field) ?? order.size
  return [...details].sort((one, other) => position(one) - position(other))
}

function fieldNames(resource: Resource): string[] {
  return Object.entries(resource.allFields).flatMap(([name, field]) =>
    field.type === 'group'
      ? [name, ...Object.keys(field.fields).map((member) => `${name}.${member}`)]
      : [name],
  )
}

function unknown(name: string, known: string): Detail {
  const message = `${name.slice(0, 100)} is not a field here; the fields are ${known}.`
  return detail(name.slice(0, 200), 'UNKNOWN_FIELD', message)
}

/** The fields that a caller may set, for a message. */
function namesOf(fields: Readonly<Record<string, Field>>): string {
  const settable = Object.entries(fields).filter(([, field]) => !field.readOnly)
  return settable.map(([name]) => name).join(', ')
}

function ownField<F extends Field>(fields: Readonly<Record<string, F>>, name: string): F | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

function withoutNull(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))
}

function withoutUndefined(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

function detail(field: string, code: DetailCode, message: string): Detail {
  return { field, code, message }
}
