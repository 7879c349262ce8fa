import { booleanKind } from '../kinds/boolean.ts'
import { dateKind } from '../kinds/date.ts'
import { decimalKind } from '../kinds/decimal.ts'
import { enumerationKind } from '../kinds/enumeration.ts'
import { fractionsKind } from '../kinds/fractions.ts'
import { integerKind } from '../kinds/integer.ts'
import { jsonKind } from '../kinds/json.ts'
import type { FieldOf, FieldOptions, Kind } from '../kinds/kind.ts'
import { listKind } from '../kinds/list.ts'
import { numberKind } from '../kinds/number.ts'
import { referenceKind } from '../kinds/reference.ts'
import { textKind } from '../kinds/text.ts'
import { timestampKind } from '../kinds/timestamp.ts'

const LIST = [
  textKind,
  referenceKind,
  numberKind,
  integerKind,
  decimalKind,
  booleanKind,
  timestampKind,
  dateKind,
  enumerationKind,
  fractionsKind,
  jsonKind,
  listKind,
] as const

/** A field that holds one value, in one column. */
export type LeafField = (typeof LIST)[number]['guide']['field']

export const KINDS = LIST as unknown as readonly Kind<FieldOf<LeafField['type']>>[]

const BY_TYPE = Object.fromEntries(KINDS.map((kind) => [kind.type, kind]))

export function kindOf(field: LeafField): Kind<LeafField> {
  return BY_TYPE[field.type] as Kind<LeafField>
}

export interface GroupField extends FieldOf<'group'> {
  readonly fields: Readonly<Record<string, LeafField>>
}

export type Field = LeafField | GroupField

export type Fields = Readonly<Record<string, Field>>

/**
 * Whether a body must have this field, or a member of this group. A body without an API version, as in GraphQL, can omit fields that are only in
 * some versions, or that some callers cannot write. Views do not mark these fields.
 */
export function isRequired(field: Field): boolean {
  const isOfAll = !isOfSomeApiVersions(field) && !isRestricted(field)
  if (field.type === 'group') return membersOf(field).some(isRequired)
  return field.required === true && !field.readOnly && isOfAll
}

/** The name of a field in its definition, which is that of its column and its name in GraphQL. */
export function definedName(name: string, { definedAs }: Field): string {
  return definedAs ?? name
}

/** Whether reading or writing the field needs a scope of its own. */
export function isRestricted({ readScope, writeScope }: Field): boolean {
  return readScope !== undefined || writeScope !== undefined
}

/** Whether all representations have the field. */
export function isAlwaysShown(field: Field): boolean {
  if (field.type === 'group') return membersOf(field).some(isAlwaysShown)
  return isAlwaysSet(field) && field.readScope === undefined
}

/** Whether the field, or one of its members, is only in some versions of the API. */
export function isOfSomeApiVersions(field: Field): boolean {
  const members = field.type === 'group' ? Object.values(field.fields) : []
  return field.since !== undefined || field.until !== undefined || members.some(isOfSomeApiVersions)
}

export function isAlwaysSet(field: Field): boolean {
  if (field.type === 'group') return membersOf(field).some(isAlwaysSet)
  return field.required === true || fixedInitial(field) !== undefined
}

function membersOf(group: GroupField): LeafField[] {
  return Object.values(group.fields).map((member) => ({ ...inheritable(group), ...member }))
}

/** The initial value that does not depend on the caller. */
export function fixedInitial({ initially }: FieldOptions): string | number | boolean | undefined {
  return typeof initially === 'function' ? undefined : initially
}

/**
 * A field that the database computes from others of the same resource: `computed('price * quantity', decimal(12, 2,
 * 'Price times quantity.'))`. It is read-only, and can be filtered, sorted and aggregated like any other of its kind.
 *
 * @param expression in SQL, immutable, over the columns of the row
 */
export function computed<Computed extends LeafField>(expression: string, field: Computed): Computed {
  return { ...field, computed: expression, readOnly: true }
}

/** An object of fields, omitted if none of them is set. A required member makes it required. */
export function group<Members extends Readonly<Record<string, LeafField>>>(
  description: string,
  fields: Members,
  options: Pick<FieldOptions, 'label' | 'since' | 'until' | 'readScope' | 'writeScope'> = {},
): Omit<GroupField, 'fields'> & { readonly fields: Members } {
  return { type: 'group', description, fields, ...options }
}

/** The fields that hold a value for which this holds, and groups with only such members. */
export function fieldsThat(fields: Fields, holds: (field: LeafField) => boolean): Fields {
  const kept = Object.entries(fields).flatMap(([name, field]): [string, Field][] => {
    if (field.type !== 'group') return holds(field) ? [[name, field]] : []
    const members = fieldsThat(field.fields, holds) as Readonly<Record<string, LeafField>>
    return Object.keys(members).length > 0 ? [[name, { ...field, fields: members }]] : []
  })
  return Object.fromEntries(kept)
}

/** What members have from their group, unless they have their own: versions and scopes. */
export function inheritable({ since, until, readScope, writeScope }: Field): Partial<LeafField> {
  const all = Object.entries({ since, until, readScope, writeScope })
  return Object.fromEntries(all.filter(([, value]) => value !== undefined))
}
