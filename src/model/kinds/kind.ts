import type { AccessCaller } from '../access/access-rules.ts'
import type { DetailCode } from '../errors.ts'
import type { Operator } from '../query/operators.ts'
import { isStorable } from '../values.ts'

type Initial = string | number | boolean
/** An initial value that depends on who creates the resource, such as its owner; undefined for none. */
export type InitialOfCaller = (caller: AccessCaller) => Initial | undefined

/** Options of all kinds, which {@link COMMON_OPTIONS} describes. */
export interface FieldOptions {
  readonly label?: string
  readonly unit?: string
  readonly required?: true
  readonly readOnly?: boolean
  readonly initially?: Initial | InitialOfCaller
  readonly hidden?: true
  readonly index?: 'sort' | 'filter' | 'list'
  readonly unique?: true | { readonly within: string | readonly string[] }
  readonly computed?: string
  readonly renamedFrom?: string
  readonly since?: string
  readonly until?: string
  readonly formerly?: { readonly name: string; readonly until: string }
  readonly readScope?: string
  readonly writeScope?: string
}

/** For docs/FIELDS.md. */
export const COMMON_OPTIONS: Readonly<Record<keyof FieldOptions, string>> = {
  label: 'The name of the field on pages, in forms and in documents. By default, the field name in words.',
  unit: 'The unit of the values, shown after the label: `Distance (parsecs)`.',
  required: 'Required, and not blank, on every write.',
  readOnly: 'Set by the service. Ignored on creation, and refused in later writes if it differs.',
  initially:
    'The value of a new resource if none is sent, and the default of its column. It can be replaced, but not removed. A function of the caller, such as `(caller) => caller.subject`, gives each creator a value of its own; the field is then usually `readOnly`.',
  hidden: 'Set by the service, and shown only in GraphQL.',
  index:
    'An index for lists, within the parent if there is one. `sort` indexes the value and the identifier, in the order of a sorted list; `filter` indexes only the value, and stays small if many resources share each value; `list` indexes the value in the order of creation, for lists of all resources with one value, such as those of an owner in access rules.',
  unique:
    '`true`: no two resources have the same value. `{ within: "owner_id" }`, or a list of fields: no two resources with the same values in those fields do. Texts are compared regardless of case and surrounding blanks; a resource that lacks one of the values is not compared.',
  computed:
    'An SQL expression over columns of the same row, such as `price * quantity`, which PostgreSQL computes and stores; `computed(expression, field)` sets it. A member of a group has the column `group_member`. Functions must be immutable.',
  renamedFrom:
    'The former dotted name of a renamed field. `npx halgraph resource migrate` then keeps the values.',
  since:
    'The first version of the API that has the field, such as `v2`. If the field is `required`, it also needs `initially`, the value it gets when a resource is created through another version.',
  until: 'The last version of the API that has it.',
  formerly:
    'The name that the field has over REST up to a version of the API: clients of it notice nothing of the new name. Not for references and members of groups.',
  readScope:
    'A scope that a token needs besides `books:read` to see the field, and to write it: with `private`, `books:private` or `*:private`. For other callers, the resource has no such field. A `required` field also needs `initially`.',
  writeScope: 'A scope that a token needs besides `books:write` to write the field, which others only read.',
}

/** In TypeScript, for docs/FIELDS.md; a test makes the fields. */
export const COMMON_EXAMPLES: Readonly<Record<keyof FieldOptions, string>> = {
  label: "text('Name.', { label: 'Full name' })",
  unit: "number('Weight.', { unit: 'kg' })",
  required: "text('Name.', { required: true })",
  readOnly: "decimal(12, 2, 'Total.', { readOnly: true })",
  initially: "enumeration(['draft', 'sold'], 'Status.', { initially: 'draft' })",
  hidden: "text('Key of another system.', { hidden: true })",
  index: "date('Day.', { index: 'sort' })",
  unique: "text('Shelf.', { unique: { within: 'room_id' } })",
  computed: "computed('price * quantity', decimal(12, 2, 'Total.'))",
  renamedFrom: "text('Surname.', { renamedFrom: 'last_name' })",
  since: "text('Motto.', { since: 'v2' })",
  until: "text('Number of the fax.', { until: 'v1' })",
  formerly: "text('E-mail address.', { formerly: { name: 'email', until: 'v1' } })",
  readScope: "text('Diagnosis.', { readScope: 'medical' })",
  writeScope: "text('Number of the chip.', { writeScope: 'register' })",
}

export interface FieldOf<Type extends string> extends FieldOptions {
  readonly type: Type
  readonly description: string
  /** In a view in which the field has a former name: the name in its definition. */
  readonly definedAs?: string
}

/** A JSON Schema (2020-12), or a part of one. */
export type Schema = { readonly [keyword: string]: unknown }

export const EQUALITIES: readonly Operator[] = ['equals', 'notEquals', 'in', 'isSet']
export const COMPARISONS: readonly Operator[] = [...EQUALITIES, 'gt', 'gte', 'lt', 'lte']

/** Defaults of the kinds that are texts. Texts are compared byte by byte. */
export const TEXT_DEFAULTS = {
  columnType: 'TEXT COLLATE "C"',
  dataType: 'text',
  prismaType: 'String',
  operators: [...EQUALITIES, 'contains', 'containsInsensitive', 'startsWith'],
  isText: true,
} as const

/** Defaults of the kinds that are JSON, which is neither compared nor grouped. */
export const JSON_DEFAULTS = {
  columnType: 'JSONB',
  dataType: 'jsonb',
  prismaType: 'Json',
  operators: [],
  isRarelyShared: true,
  // There are no operators.
  fromQuery: (_: unknown, text: string): Checked => ({ value: text }),
  // An edit in the database can store null in JSON where the column is never null.
  shown: ({ required, initially }: FieldOptions, value: unknown) =>
    value ?? (required || initially !== undefined ? {} : null),
  isJson: true,
} as const

export type Checked = { readonly value: unknown } | Problem

interface Problem {
  readonly code: DetailCode
  /** A predicate that follows the name of the field in a message. */
  readonly problem: string
}

/** How a form asks for a value (HAL-FORMS, property element). */
export interface Control {
  /** A type from HAL-FORMS; some clients fail on others. */
  readonly type?: string
  /** The format of the text: our extension, named after the keyword of JSON Schema. */
  readonly format?: 'date-time' | 'object' | 'json'
  readonly min?: number
  readonly max?: number
  readonly step?: number
  readonly maxLength?: number
  readonly regex?: string
  readonly placeholder?: string
  /** The only allowed values. */
  readonly choices?: readonly (string | { readonly prompt: string; readonly value: unknown })[]
}

/** A scalar of the GraphQL schema; `String` and the like are built in. */
export type Scalar = 'String' | 'ID' | 'Float' | 'Int' | 'Boolean' | { name: string; description: string }

/**
 * Everything about a kind of field. Other modules ask the kind and never compare the type of a field, so a new kind is one
 * file, and an entry in the list in `fields.ts`. Types of PostgreSQL, Prisma and GraphQL are named by texts: a kind imports
 * none of these libraries.
 */
export interface Kind<Field extends FieldOf<string>> {
  readonly type: Field['type']
  /** For docs/FIELDS.md: a field, the call that makes it, and the options that only this kind has. */
  readonly guide: {
    readonly field: Field
    readonly code: string
    readonly options: { readonly [Option in Exclude<keyof Field, keyof FieldOf<string>>]-?: string }
  }
  /** Problems with the options of a field, such as `it needs a value`. */
  problems?(field: Field): readonly string[]

  /** PostgreSQL's type, as in `CREATE TABLE` and as in information_schema (`dataType`). */
  readonly columnType: string
  /** The parameters of the type: `(10,2)`. */
  columnParameters?(field: Field): string
  readonly dataType: string
  /** The type in the Prisma schema, with its native type as an attribute where Prisma's default is another. */
  readonly prismaType: string
  prismaAttribute?(field: Field): string
  /** Converts a value from Prisma to the one that statements return, if they differ. */
  fromPrisma?(value: never, field: Field): unknown
  /** The condition of a CHECK on a quoted column. */
  constraint?(column: string, field: Field): string | undefined
  /** The expression that a unique value is compared by; the column itself by default. */
  uniqueBy?(column: string): string
  /** The clause after `ON table` in CREATE INDEX, and the attribute of Prisma's model; B-trees by default. */
  indexedBy?(column: string): string
  prismaIndex?(column: string): string
  /** Parses a text from PostgreSQL, for a type that the driver parses differently. */
  fromDatabase?(text: string): unknown

  /** Without one, the GraphQL schema declares a type for each field. */
  readonly scalar?: Scalar
  /** The field that describes its items, if it has items. */
  itemOf?(field: Field): FieldOf<string>
  /** The operators of its filters. If it has any, it can be sorted by, unless it is unordered. */
  readonly operators: readonly Operator[]
  readonly isUnordered?: true
  /** The condition of the operator `contains`; by default, that the text of the column contains the parameter. */
  contains?(column: string, parameter: string): string
  /** The same condition on values in the process. */
  holds?(field: Field, operand: unknown): (value: never) => boolean
  /** Compares two values as the database does; by default as JavaScript does. */
  compare?(one: never, other: never): number
  /** Converts the value to compare with to a parameter; unchanged by default. */
  operand?(field: Field, value: unknown): unknown
  /** For aggregates: it is not grouped by value, can be grouped by period, can be measured. */
  readonly isRarelyShared?: true
  readonly isTimed?: true
  readonly isMeasurable?: true
  /** Its values are numbers as texts, which are added exactly. */
  readonly isExact?: true
  /** Many resources share each of its few values, which a chart can show. */
  readonly hasFewValues?: true

  /** The schema of its JSON values, and an addition where the value must not be blank. */
  schema(field: Field): Schema
  notBlank?(field: Field): Schema
  /** The maximum length in JSON, in characters; {@link NUMBER_CHARACTERS} by default. */
  characters?(field: Field): number
  /** Checks a value of a body, which is not null, and converts it to its stored form. */
  check(field: Field, value: unknown): Checked
  /** Converts a stored value to its form in JSON; unchanged by default. */
  toJson?(value: never): unknown
  /** What the GraphQL type of the field can express of a stored value, which may be from before its definition. */
  shown?(field: Field, value: never): unknown
  /** Checks a text to compare with, also beyond the bounds of the field, but not a longer one than it can hold. */
  fromQuery(field: Field, text: string): Checked
  /** The JSON value of an unquoted CSV cell, or the text itself if it is not one, so that the check refuses it. */
  fromCell?(text: string): unknown
  /** What such a cell can be, where other texts are no values. */
  readonly cellForms?: string
  /** Its values are JSON, which cells hold as text. A patch is merged into an object, so that null removes a member. */
  readonly isJson?: true
  /** A cursor may hold only the beginning of a text. */
  readonly isText?: true
  /** A quoted empty cell is an empty text. */
  readonly isFreeText?: true

  control(field: Field): Control
  /** The values allowed after a stored one, or in a new resource; undefined if all valid values are. */
  choicesAfter?(field: Field, current: unknown): readonly unknown[] | undefined
  /** A valid value in JSON. Equal numbers give equal values, and greater ones greater values where these have an order. */
  sample(field: Field, name: string, number: number): unknown
}

export function wrongType(expected: string): Problem {
  return { code: 'INVALID_TYPE', problem: `must be ${expected}` }
}

const NOT_STORABLE: Problem = {
  code: 'INVALID_VALUE',
  problem: 'must not contain U+0000 or a lone surrogate',
}

/** Checks a text and its length in Unicode code points. */
export function checkText(value: unknown, maximumLength: number): Checked {
  if (typeof value !== 'string') return wrongType('a string')
  // A character has one or two UTF-16 code units. A text of a megabyte takes ten milliseconds to count.
  const { length } = value
  if (length > maximumLength && (length > 2 * maximumLength || [...value].length > maximumLength))
    return { code: 'TOO_LONG', problem: `must not be longer than ${maximumLength} characters` }
  return isStorable(value) ? { value } : NOT_STORABLE
}

/** The characters of the longest double-precision number, and of a timestamp. */
export const NUMBER_CHARACTERS = 24
