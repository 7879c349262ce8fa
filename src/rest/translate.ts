import type { Field } from '../domain/model/fields.ts'
import type { Resource, Values } from '../domain/model/resource.ts'
import type { Data } from '../graph/execution/operation.ts'
import { camelCase, sortValue } from '../graph/names.ts'
import type { ListFilter, ListSort } from './parse-list-query.ts'

/** Values under wire names as a GraphQL input object. */
export function toInput(resource: Resource, values: Values): Data {
  return renamed(resource.allFields, values)
}

function renamed(fields: Readonly<Record<string, Field>>, values: Values): Data {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const field = fields[name]
      const isNested = field?.type === 'group' && value !== null
      return [camelCase(name), isNested ? renamed(field.fields, value as Values) : value]
    }),
  )
}

/** The filters of a list as a GraphQL filter object: all of them must hold. */
export function toFilterInput(filters: readonly ListFilter[]): Data | null {
  if (filters.length === 0) return null
  return { and: filters.map(({ leaf, operator, value }) => nested(leaf.path, { [operator]: value })) }
}

function nested(path: readonly string[], innermost: Data): Data {
  return path.reduceRight<Data>((inner, name) => ({ [camelCase(name)]: inner }), innermost)
}

/** The sorts of a list as GraphQL sort objects. */
export function toSortInput(sorts: readonly ListSort[]): Data[] {
  return sorts.map(({ leaf, direction }) => ({
    field: sortValue(leaf.column),
    direction: direction === 'asc' ? 'ASC' : 'DESC',
  }))
}
