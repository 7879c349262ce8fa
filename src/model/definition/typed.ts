import type { Row } from '../rows/row.ts'

/**
 * Types that follow from the fields of a definition: what JSON has, what rules get, and the columns of rows. Fields that
 * the program makes, whose names the compiler does not know, have values of any type.
 */

/** Fields whose names the compiler does not know. */
export type AnyFields = Readonly<Record<string, unknown>>

/** The JSON of a kind of field; enumerations, lists and groups depend on the field. */
interface JsonByType {
  readonly text: string
  readonly reference: string
  readonly number: number
  readonly integer: number
  /** All digits, as in `"12.50"`. */
  readonly decimal: string
  readonly boolean: boolean
  readonly timestamp: string
  readonly date: string
  readonly fractions: Readonly<Record<string, number>>
}

type ValueOf<Of, Form extends 'json' | 'stored'> = Of extends { type: 'group'; fields: infer Members }
  ? ValuesOf<Members, Form>
  : Of extends { type: 'enumeration'; values: readonly (infer Value)[] }
    ? Value
    : Of extends { type: 'list'; item: infer Item }
      ? readonly ValueOf<Item, 'json'>[]
      : Of extends { type: 'timestamp' | 'date' }
        ? Form extends 'stored'
          ? Date
          : string
        : Of extends { type: infer Type extends keyof JsonByType }
          ? JsonByType[Type]
          : unknown

/** Every row has a value in it. */
type AlwaysSet = { readonly required: true }

/** An object of these fields, in JSON or as rules get it: times are of the class Date there. */
export type ValuesOf<Of, Form extends 'json' | 'stored'> = string extends keyof Of
  ? { readonly [field: string]: unknown }
  : { readonly [Name in keyof Of as Of[Name] extends AlwaysSet ? Name : never]: ValueOf<Of[Name], Form> } & {
      readonly [Name in keyof Of as Of[Name] extends AlwaysSet ? never : Name]?: ValueOf<Of[Name], Form>
    }

/** Each column with its field: a member of a group has the column `{group}_{member}`. */
type ColumnOf<Of> = {
  [Name in keyof Of & string]: Of[Name] extends { type: 'group'; fields: infer Members }
    ? { [Member in keyof Members & string]: [`${Name}_${Member}`, Members[Member]] }[keyof Members & string]
    : [Name, Of[Name]]
}[keyof Of & string]

/** The columns of these fields; unset ones are null. */
export type ColumnsOf<Of> = string extends keyof Of
  ? Record<string, unknown>
  : {
      [Entry in ColumnOf<Of> as Entry[0]]:
        | ValueOf<Entry[1], 'stored'>
        | (Entry[1] extends AlwaysSet ? never : null)
    }

/** A row of the table of a resource with these fields. */
export type RowOf<Of> = string extends keyof Of
  ? Row
  : Readonly<ColumnsOf<Of>> & Pick<Row, 'id' | 'version' | 'last_updated' | 'changed_by'>

/** `CrewMember` as `crew_member`, as the field of the parent's identifier has it. */
type InSnakeCase<Name extends string, Before extends string = ''> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? '' : Before extends '' ? '' : Before extends Lowercase<Before> ? '_' : ''}${Lowercase<First>}${InSnakeCase<Rest, First>}`
  : ''

type ParentOf<Owner> = Owner extends { readonly name: infer Name extends string }
  ? string extends Name
    ? unknown
    : { readonly [Field in `${InSnakeCase<Name>}_id`]: string }
  : unknown

/**
 * A representation in JSON, as REST serves it: `Representation<typeof items>`. A decimal is a text, a time a text in
 * ISO 8601. A field that no row must have can be missing, and so can hidden ones, which only GraphQL shows.
 */
export type Representation<Defined extends { fields: object; createdField: string; owner?: object }> =
  ValuesOf<Defined['fields'], 'json'> &
    ParentOf<NonNullable<Defined['owner']>> & {
      readonly [Name in 'id' | 'last_updated' | Defined['createdField']]: string
    }
