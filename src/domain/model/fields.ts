/**
 * The types a field can have, and a constructor for each. A resource definition is written in these;
 * the SDL, the body check, the filters and the documents read them.
 */

interface FieldOptions {
  /** Must be there, and not blank, on every write (SPEC §2.1). */
  readonly required?: true
  /** Kept by the service: ignored on create, and refused when it differs on a later write. */
  readonly readOnly?: true
  /** The value it has when it is created without one. It is never removed, only replaced. */
  readonly initially?: string
  /** Kept by the service and shown in GraphQL only, never in a REST representation. */
  readonly hidden?: true
}

export interface TextField extends FieldOptions {
  readonly type: 'text'
  readonly description: string
  /** In Unicode code points. */
  readonly maximumLength: number
  /** No two resources may have it, whatever the case and the blanks around it. */
  readonly unique?: true
  /** A filter on this field also finds resources whose named field has the value. */
  readonly alsoMatches?: string
}

export interface ReferenceField extends FieldOptions {
  readonly type: 'reference'
  readonly description: string
  /** The path of the collection whose identifiers this field holds. */
  readonly to: string
  /** The link relation to the resource referred to, and (in camel case) the GraphQL field. */
  readonly relation: string
  /** Also listed at /{to}/{id}/{path of this resource} (SPEC §2.5.1). */
  readonly nested?: true
}

export interface NumberField extends FieldOptions {
  readonly type: 'number' | 'integer'
  readonly description: string
  readonly minimum?: number
  readonly maximum?: number
}

export interface BooleanField extends FieldOptions {
  readonly type: 'boolean'
  readonly description: string
}

export interface TimestampField extends FieldOptions {
  readonly type: 'timestamp'
  readonly description: string
}

export interface EnumerationField extends FieldOptions {
  readonly type: 'enumeration'
  readonly description: string
  readonly values: readonly string[]
}

export interface FractionsField extends FieldOptions {
  readonly type: 'fractions'
  readonly description: string
}

export interface GroupField extends FieldOptions {
  readonly type: 'group'
  readonly description: string
  readonly fields: Readonly<Record<string, LeafField>>
}

/** A field that holds one value, in one column. */
export type LeafField =
  | TextField
  | ReferenceField
  | NumberField
  | BooleanField
  | TimestampField
  | EnumerationField
  | FractionsField

export type Field = LeafField | GroupField

/** Whether a resource always has a value here, so that nobody need expect it to be absent. */
export function isAlwaysSet(field: Field): boolean {
  return field.type !== 'group' && (field.required === true || field.initially !== undefined)
}

/** A name or a short text. 500 characters, so that its longest value still fits an index entry. */
export function text(description: string, options: Partial<Omit<TextField, 'type'>> = {}): TextField {
  return { type: 'text', description, maximumLength: 500, ...options }
}

/** The identifier of a resource in another collection. */
export function reference(
  to: string,
  relation: string,
  description: string,
  options: FieldOptions & Pick<ReferenceField, 'nested'> = {},
): ReferenceField {
  return { type: 'reference', to, relation, description, ...options }
}

/** A finite double. The unit belongs in the field's name. */
export function number(description: string, options: Partial<Omit<NumberField, 'type'>> = {}): NumberField {
  return { type: 'number', description, ...options }
}

/** A number that is measured and cannot be negative. */
export function magnitude(description: string): NumberField {
  return number(description, { minimum: 0 })
}

/** The whole numbers that fit 32 bits with their sign: what both PostgreSQL and GraphQL call an integer. */
export const INTEGER_RANGE = { minimum: -2147483648, maximum: 2147483647 }

/** A whole number within {@link INTEGER_RANGE}. */
export function integer(description: string, options: Partial<Omit<NumberField, 'type'>> = {}): NumberField {
  return { type: 'integer', description, ...INTEGER_RANGE, ...options }
}

export function boolean(description: string, options: FieldOptions = {}): BooleanField {
  return { type: 'boolean', description, ...options }
}

/** A moment, to the millisecond, as ISO 8601 UTC on the wire. */
export function timestamp(description: string, options: FieldOptions = {}): TimestampField {
  return { type: 'timestamp', description, ...options }
}

/** One of a closed list of words. */
export function enumeration(
  values: readonly string[],
  description: string,
  options: FieldOptions = {},
): EnumerationField {
  return { type: 'enumeration', values, description, ...options }
}

/** An object of name → fraction between 0 and 1, its names not known beforehand. */
export function fractions(description: string, options: FieldOptions = {}): FractionsField {
  return { type: 'fractions', description, ...options }
}

/** An object with fields of its own; absent when none of them is set. */
export function group(description: string, fields: Readonly<Record<string, LeafField>>): GroupField {
  return { type: 'group', description, fields }
}
