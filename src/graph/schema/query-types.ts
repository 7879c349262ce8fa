import type { Field } from '../../domain/model/fields.ts'
import { operationsOf } from '../../domain/model/operations.ts'
import { queryable } from '../../domain/model/query.ts'
import type { Leaf, Resource } from '../../domain/model/resource.ts'
import { graphNames, groupType, sortValue } from '../names.ts'
import { described, filterType, memberOf } from './field-types.ts'
import { DEFAULT_SIZE } from './list-requests.ts'

/** The types that a resource's lists are asked for with, and answered in. */
export function queryTypes(resource: Resource): string {
  const { listed } = operationsOf(resource)
  const lists = listed ? [sortTypes, pageType, connectionType] : []
  return [filterInput, ...lists].map((make) => make(resource)).join('\n')
}

function sortTypes(resource: Resource): string {
  const names = graphNames(resource)
  return `"What ${resource.path} can be sorted by."
    enum ${names.sortField} { ${queryable(resource.leaves).map(sortFieldValue).join('\n')} }
    "One sort of ${resource.path}; what has no value comes last, whatever the direction."
    input ${names.sort} {
      "The field to sort by." field: ${names.sortField}!
      "The direction." direction: SortDirection! = ASC
    }`
}

function sortFieldValue({ column, field }: Leaf): string {
  return `${described(field.description)}${sortValue(column)}`
}

function pageType(resource: Resource): string {
  return `"One page of a list of ${resource.path}."
    type ${graphNames(resource).pageType} {
      "Those on the page."
      items: [${resource.name}!]!
      "Which page it is, 1-based."
      page: Int!
      "How many there are on a page at most."
      limit: Int!
      "How many there are on all pages."
      totalCount: Int!
      "How many pages there are."
      totalPages: Int!
      "Whether there is a page after this one."
      hasMore: Boolean!
      "What to ask for the next page with, besides its number; null when there is none."
      nextCursor: String
      "What to ask for the page before with, besides its number; null when there is none."
      previousCursor: String
    }`
}

function connectionType(resource: Resource): string {
  const { connectionType: connection, edge } = graphNames(resource)
  return `"A part of a list of ${resource.path}, found by cursors (GraphQL Cursor Connections Specification)."
    type ${connection} {
      "Those of the part, each with its cursor."
      edges: [${edge}!]!
      "The same without the cursors."
      nodes: [${resource.name}!]!
      "Where the part begins and ends."
      pageInfo: PageInfo!
      "How many there are in the whole list."
      totalCount: Int!
    }
    "One of a list of ${resource.path}, and its place in the order of the list."
    type ${edge} {
      "What is there."
      node: ${resource.name}!
      "Its place, for after and before; it stays valid when the resource is gone."
      cursor: String!
    }`
}

function filterInput(resource: Resource): string {
  const name = graphNames(resource).filter
  const seen = new Set(queryable(resource.leaves).map(({ path }) => path[0] as string))
  const members = [...seen].map((outer) => {
    const field = resource.allFields[outer] as Field
    const type =
      field.type === 'group' ? `${groupType(resource, outer)}Filter` : filterType(resource, outer, field)
    return memberOf(outer, field, type)
  })
  return `"A condition on ${resource.path}: all members that are given must hold."
    input ${name} {
      "All of these must hold." and: [${name}!]
      "At least one of these must hold." or: [${name}!]
      ${members.join('\n')}
    }`
}

/** The arguments of every list that is read by pages. */
export function pageArguments(resource: Resource): string {
  return `"Which page, 1-based." page: Int! = 1, "How many on a page." limit: Int! = 20,
    "What a page next to it told: then it costs the same however far down it is, and none skips or repeats." cursor: String,
    ${listArguments(resource)}`
}

/** The arguments of every list that is read by cursors. */
export function connectionArguments(resource: Resource): string {
  return `"How many, from the start of what there is; ${DEFAULT_SIZE} when neither first nor last is given." first: Int,
    "Only those after the place of this cursor." after: String,
    "How many, from the end of what there is." last: Int,
    "Only those before the place of this cursor." before: String,
    ${listArguments(resource)}`
}

function listArguments(resource: Resource): string {
  const { sort, filter } = graphNames(resource)
  return `"The order; without any, that of creation." sort: [${sort}!]! = [],
    "Only those for which this holds." filter: ${filter}`
}
