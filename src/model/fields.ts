import type { LeafField } from './kinds/index.ts'
import type { FieldOptions } from './kinds/kind.ts'

export { boolean } from './kinds/boolean.ts'
export { date } from './kinds/date.ts'
export { decimal } from './kinds/decimal.ts'
export { enumeration } from './kinds/enumeration.ts'
export { fractions } from './kinds/fractions.ts'
export { kindOf, type LeafField } from './kinds/index.ts'
export { INTEGER_RANGE, integer } from './kinds/integer.ts'
export { json } from './kinds/json.ts'
export { list } from './kinds/list.ts'
export { magnitude, number } from './kinds/number.ts'
export { type ReferenceField, reference } from './kinds/reference.ts'
export { type TextField, text } from './kinds/text.ts'
export { timestamp } from './kinds/timestamp.ts'

export interface GroupField extends FieldOptions {
  readonly type: 'group'
  readonly description: string
  readonly fields: Readonly<Record<string, LeafField>>
}

export type Field = LeafField | GroupField

/**
 * Whether a body must have this field. A body without an API version, as GraphQL's, need not have a field of some
 * versions only; views do not show which fields these are.
 */
export function isRequired(field: Field): boolean {
  return field.type !== 'group' && field.required === true && !field.readOnly && !isOfSomeVersions(field)
}

/** Whether the field, or a member of it, is only in some versions of the API. */
export function isOfSomeVersions(field: Field): boolean {
  const members = field.type === 'group' ? Object.values(field.fields) : []
  return field.since !== undefined || field.until !== undefined || members.some(isOfSomeVersions)
}

export function isAlwaysSet(field: Field): boolean {
  return field.type !== 'group' && (field.required === true || field.initially !== undefined)
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

/** An object of fields, omitted if none of them is set. */
export function group(
  description: string,
  fields: Readonly<Record<string, LeafField>>,
  options: Pick<FieldOptions, 'label' | 'since' | 'until'> = {},
): GroupField {
  return { type: 'group', description, fields, ...options }
}
