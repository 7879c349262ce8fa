import type { Field } from '../../domain/model/fields.ts'
import type { Resource, Values } from '../../domain/model/resource.ts'
import { camelCase } from '../names.ts'

/** Values as GraphQL has them: in camel case. */
export type InputValues = { readonly [field: string]: unknown }

/** One sort of a list; the field is a dotted wire name, which the enumeration stands for. */
export interface SortArgument {
  readonly field: string
  readonly direction: 'ASC' | 'DESC'
}

/** The arguments of every list that is read by pages. */
export interface PageArguments {
  /** The place from which the page is read, as the page before or after it told. */
  readonly cursor?: string | null
  readonly page: number
  readonly limit: number
  readonly sort: readonly SortArgument[]
  readonly filter?: InputValues | null
}

/** The arguments of every list that is read by cursors. */
export interface ConnectionArguments {
  readonly first?: number | null
  readonly after?: string | null
  readonly last?: number | null
  readonly before?: string | null
  readonly sort: readonly SortArgument[]
  readonly filter?: InputValues | null
}

/** The arguments of every aggregate; the fields are dotted wire names. */
export interface AggregateArguments {
  readonly filter?: InputValues | null
  readonly groupBy: readonly string[]
  readonly order: 'COUNT' | 'KEY'
  readonly limit: number
}

/** Input values under their wire names, which is how the domain knows them. */
export function toWireNames(resource: Resource, input: InputValues): Values {
  return renamed(resource.allFields, input)
}

function renamed(fields: Readonly<Record<string, Field>>, input: InputValues): Values {
  const values: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) {
    const value = input[camelCase(name)]
    if (value === undefined) continue
    values[name] =
      field.type === 'group' && value !== null ? renamed(field.fields, value as InputValues) : value
  }
  return values
}
