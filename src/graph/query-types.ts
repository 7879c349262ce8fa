import type { Field } from '../domain/fields.ts'
import { queryable } from '../domain/query.ts'
import type { Leaf, Resource } from '../domain/resource.ts'
import { filterType } from './field-types.ts'
import { camelCase, graphNames, groupType, sortValue } from './names.ts'

/** The types that a resource's lists are asked for with, and answered in. */
export function queryTypes(resource: Resource): string {
  const names = graphNames(resource)
  const leaves = queryable(resource, { hidden: true })
  return `${filterInput(resource, names.filter, leaves)}
    enum ${names.sortField} { ${leaves.map(({ column }) => sortValue(column)).join(' ')} }
    input ${names.sort} { field: ${names.sortField}! direction: SortDirection! = ASC }
    "One page of a list."
    type ${names.pageType} {
      items: [${resource.name}!]!
      "1-based."
      page: Int!
      limit: Int!
      totalCount: Int!
      totalPages: Int!
      hasMore: Boolean!
    }`
}

function filterInput(resource: Resource, name: string, leaves: readonly Leaf[]): string {
  const seen = new Set(leaves.map(({ path }) => path[0] as string))
  const members = [...seen].map((outer) => {
    const field = resource.allFields[outer] as Field
    const type =
      field.type === 'group' ? `${groupType(resource, outer)}Filter` : filterType(resource, outer, field)
    return `${camelCase(outer)}: ${type}`
  })
  return `"All members that are given must hold."
    input ${name} { and: [${name}!] or: [${name}!] ${members.join('\n')} }`
}

/** The arguments of every list. */
export function pageArguments(resource: Resource): string {
  const { sort, filter } = graphNames(resource)
  return `page: Int! = 1, limit: Int! = 20, sort: [${sort}!]! = [], filter: ${filter}`
}
