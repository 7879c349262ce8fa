/** The types of fields, and a constructor for each, with which resource definitions are written. */

interface FieldOptions {
  /** Required, and not blank, on every write (SPEC §2.1). */
  readonly required?: true
  /** Set by the service: ignored on create, and refused on a later write if it differs. */
  readonly readOnly?: true
  /** The default of a new resource. The value can be replaced but not removed. */
  readonly initially?: string | number | boolean
  /** Set by the service, and shown in GraphQL only. */
  readonly hidden?: true
  /**
   * An index for lists: `sort` has the value and the identifier, in the order of a sorted list; `filter` has the
   * value alone and stays small where many resources share each value. Within the parent if there is one.
   */
  readonly index?: 'sort' | 'filter'
  /** The former dotted name of a renamed field, whose values `npm run resource -- migrate` keeps. */
  readonly renamedFrom?: string
  /**
   * The first version of the API that has the field, one of the `versions` of the domain: `v2`. With `required`
   * it needs `initially`, which the field gets where another version creates a resource.
   */
  readonly since?: string
  /** The last version of the API that has the field; see `since`. */
  readonly until?: string
}

interface Described extends FieldOptions {
  readonly description: string
}

export interface TextField extends Described {
  readonly type: 'text'
  /** In Unicode code points. */
  readonly maximumLength: number
  /** Unique in the collection, regardless of case and surrounding blanks. */
  readonly unique?: true
  /** Unique among the resources of the same parent, regardless of case and surrounding blanks. */
  readonly uniqueWithinParent?: true
  /** A filter on this field also finds resources whose other field, named here, has the value. */
  readonly alsoMatches?: string
}

export interface ReferenceField extends Described {
  readonly type: 'reference'
  /** The path of the collection whose identifiers this field holds. */
  readonly to: string
  /** The link relation to the target, and (in camel case) the GraphQL field. */
  readonly relation: string
  /** Also listed at /{to}/{id}/{path of this resource} (SPEC §2.5.1). */
  readonly nested?: true
  /** Refers to another target than the other resources of the same parent. */
  readonly uniqueWithinParent?: true
  /** The effect of the deletion of the target: refused (the default), or this resource is deleted or changed too. */
  readonly onDelete?: 'restrict' | 'cascade' | 'set null'
}

export interface NumberField extends Described {
  readonly type: 'number' | 'integer'
  readonly minimum?: number
  readonly maximum?: number
}

interface EnumerationField extends Described {
  readonly type: 'enumeration'
  readonly values: readonly string[]
}

interface PlainField<Type extends 'boolean' | 'timestamp' | 'fractions'> extends Described {
  readonly type: Type
}

export interface GroupField extends Described {
  readonly type: 'group'
  readonly fields: Readonly<Record<string, LeafField>>
}

/** A field that holds one value, in one column. */
export type LeafField =
  | TextField
  | ReferenceField
  | NumberField
  | EnumerationField
  | PlainField<'boolean'>
  | PlainField<'timestamp'>
  | PlainField<'fractions'>

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

/** Whether every resource has a value for this field. */
export function isAlwaysSet(field: Field): boolean {
  return field.type !== 'group' && (field.required === true || field.initially !== undefined)
}

/** Where the value of a field is unique; undefined if it need not be. */
export function uniquenessOf(field: LeafField): 'collection' | 'parent' | undefined {
  if ('unique' in field && field.unique) return 'collection'
  return 'uniqueWithinParent' in field && field.uniqueWithinParent ? 'parent' : undefined
}

/** A name or a short text. The default of 500 characters fits into an index entry. */
export function text(description: string, options: Partial<Omit<TextField, 'type'>> = {}): TextField {
  return { type: 'text', description, maximumLength: 500, ...options }
}

/** The identifier of a resource in another collection. */
export function reference(
  to: string,
  relation: string,
  description: string,
  options: FieldOptions & Pick<ReferenceField, 'nested' | 'uniqueWithinParent' | 'onDelete'> = {},
): ReferenceField {
  return { type: 'reference', to, relation, description, ...options }
}

/** A finite double-precision number. The name of the field includes the unit. */
export function number(description: string, options: Partial<Omit<NumberField, 'type'>> = {}): NumberField {
  return { type: 'number', description, ...options }
}

/** A measured number that cannot be negative. */
export function magnitude(description: string): NumberField {
  return number(description, { minimum: 0 })
}

/** Signed 32-bit integers: the integer type of PostgreSQL and GraphQL. */
export const INTEGER_RANGE = { minimum: -2147483648, maximum: 2147483647 }

/** An integer within {@link INTEGER_RANGE}. */
export function integer(description: string, options: Partial<Omit<NumberField, 'type'>> = {}): NumberField {
  return { type: 'integer', description, ...INTEGER_RANGE, ...options }
}

/** True or false. */
export function boolean(description: string, options: FieldOptions = {}): PlainField<'boolean'> {
  return { type: 'boolean', description, ...options }
}

/** A timestamp with milliseconds, formatted as ISO 8601 in UTC. */
export function timestamp(description: string, options: FieldOptions = {}): PlainField<'timestamp'> {
  return { type: 'timestamp', description, ...options }
}

/** One of a fixed list of values. */
export function enumeration(
  values: readonly string[],
  description: string,
  options: FieldOptions = {},
): EnumerationField {
  return { type: 'enumeration', values, description, ...options }
}

/** An object that maps arbitrary names to fractions from 0. */
export function fractions(description: string, options: FieldOptions = {}): PlainField<'fractions'> {
  return { type: 'fractions', description, ...options }
}

/** An object of fields, omitted if none of them is set. */
export function group(
  description: string,
  fields: Readonly<Record<string, LeafField>>,
  options: Pick<FieldOptions, 'since' | 'until'> = {},
): GroupField {
  return { type: 'group', description, fields, ...options }
}
