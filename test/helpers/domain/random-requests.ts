import fc, { type GeneratorValue } from 'fast-check'
import {
  type GraphQLArgument,
  type GraphQLEnumType,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import { graphNames } from '../../../src/graph/names.ts'
import { kindOf } from '../../../src/model/fields.ts'
import { namedOperators, type Operator, operatorDefinition } from '../../../src/model/query/operators.ts'
import { queryable, sortable } from '../../../src/model/query/query.ts'
import { nestedReferences } from '../../../src/model/relations.ts'
import type { Leaf, Resource, Values } from '../../../src/model/resource.ts'
import { valueAt } from '../../../src/model/rows.ts'
import { ITEM_TYPES } from '../../../src/rest/items.ts'
import { embedsOf, selectableNames } from '../../../src/rest/selection.ts'

/** What a service stores, by the path of the collection: representations with all fields. */
export type Samples = Readonly<Record<string, readonly Values[]>>

export interface RandomRequest {
  /** Below the entry document; undefined for a query. */
  readonly path?: string
  readonly accept?: string
  readonly query?: string
}

const TYPES = ['application/json', 'application/hal+json', 'application/prs.hal-forms+json']

const SOME_TEXTS = ['a', 'e', 'planet', '%', '']

/** Makes the function that makes a random request to read: of REST or GraphQL, of any resource. */
export function requestsOf(resources: readonly Resource[], schema: GraphQLSchema, samples: Samples) {
  return (generate: GeneratorValue): RandomRequest => {
    const below = (limit: number) => generate(fc.nat, Math.max(limit - 1, 0))
    const one = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item
    const isSo = () => generate(fc.boolean)
    const some = <Item>(items: readonly Item[], most: number): Item[] =>
      items.length === 0 ? [] : [...new Set(Array.from({ length: below(most + 1) }, () => one(items)))]
    const stored = ({ path }: Resource) => samples[path] ?? []
    const idOf = (resource: Resource) =>
      stored(resource).length > 0 ? String(one(stored(resource))['id']) : 'none'

    /** A value that some resource has, or another one. */
    function operandOf(resource: Resource, leaf: Leaf): unknown {
      const values = stored(resource).flatMap((values) => valueAt(values, leaf) ?? [])
      if (values.length > 0 && below(4) > 0) return one(values)
      return kindOf(leaf.field).sample(leaf.field, leaf.name, below(9))
    }

    function collectionOf(resource: Resource): string {
      const { owner, path } = resource
      const nested = nestedReferences(resource).map(({ field }) => field.to)
      if (owner) return `/${owner.path}/${parentOf(resource)}/${path}`
      if (nested.length === 0 || isSo()) return `/${path}`
      const target = resources.find((one) => one.path === nested[0]) as Resource
      return `/${target.path}/${idOf(target)}/${path}`
    }

    const parentOf = (resource: Resource) => {
      const parents = stored(resource).map((values) => values[resource.parentField as string])
      return parents.length > 0 ? String(one(parents)) : 'none'
    }

    function filterOf(resource: Resource): string {
      const leaf = one(queryable(resource.shownLeaves))
      const { operators } = kindOf(leaf.field)
      const [name, operator] = one([['', operators[0] as Operator], ...namedOperators(operators)] as const)
      const { operand } = operatorDefinition(operator)
      const values = Array.from({ length: operand === 'values' ? 2 : 1 }, () => operandOf(resource, leaf))
      const value = operand === 'boolean' ? isSo() : values.flat().map(textOf).join('|').slice(0, 40)
      return `filter=${leaf.name}${name && `[${name}]`}:${encodeURIComponent(String(value))}`
    }

    function listQuery(resource: Resource): string {
      const sorts = some(sortable(queryable(resource.shownLeaves)), 2).map(
        ({ name }) => `${name}:${isSo() ? 'asc' : 'desc'}`,
      )
      return [
        ...selectionOf(resource),
        ...(isSo() ? [filterOf(resource)] : []),
        ...(sorts.length > 0 ? [`sort=${sorts.join()}`] : []),
        ...(below(4) === 0 ? [`q=${encodeURIComponent(wordOf(resource))}`] : []),
        `page=${1 + below(3)}`,
        `limit=${1 + below(5)}`,
      ].join('&')
    }

    function selectionOf(resource: Resource): string[] {
      const fields = some(selectableNames(resource), 3)
      const embeds = some(
        embedsOf(resource, resources).map(({ relation }) => relation),
        2,
      )
      return [
        ...(fields.length > 0 ? [`fields=${fields.join()}`] : []),
        ...(embeds.length > 0 ? [`embed=${embeds.join()}`] : []),
      ]
    }

    /** A word of a text that some resource has. */
    function wordOf(resource: Resource): string {
      const text = stored(resource).length > 0 ? JSON.stringify(one(stored(resource))) : ''
      return one([...text.split(/\W+/).filter((word) => word !== ''), ...SOME_TEXTS])
    }

    function pathOf(): string {
      const resource = one(resources)
      const collection = collectionOf(resource)
      const item = resource.listed ? `${collection}/${idOf(resource)}` : collection
      const version = below(8)
      if (version === 0) return `/changes?limit=${1 + below(20)}&collection=${resource.path}`
      if (version === 1) return `${item}/versions`
      if (version === 2) return `/profile/${resource.path}`
      if (resource.listed && version < 6) return `${collection}?${listQuery(resource)}`
      const selection = selectionOf(resource).join('&')
      return selection === '' ? item : `${item}?${selection}`
    }

    function argumentsOf(resource: Resource, args: readonly GraphQLArgument[]): string {
      const texts = args.flatMap(({ name, type }): string[] => {
        const isNeeded = isNonNullType(type)
        if (name === 'limit') return [`limit: ${1 + below(4)}`]
        if (name === 'first') return [`first: ${1 + below(4)}`]
        if (name === 'id') return [`id: "${idOf(resource)}"`]
        if (name === 'sort') return [`sort: [${some(sortsOf(resource), 2).join()}]`]
        if (name === 'groupBy') return [`groupBy: [${some(groupsOf(resource), 2).join()}]`]
        if (name === 'search' && below(4) === 0) return [`search: ${JSON.stringify(wordOf(resource))}`]
        if (name === 'filter' && isSo()) return [`filter: ${conditionOf(resource)}`]
        if (resource.parentField && name.endsWith('Id') && isNeeded)
          return [`${name}: "${parentOf(resource)}"`]
        return []
      })
      return texts.length > 0 ? `(${texts.join(', ')})` : ''
    }

    const valuesOf = (name: string) =>
      (schema.getType(name) as GraphQLEnumType | undefined)?.getValues().map((value) => value.name) ?? []
    const sortsOf = (resource: Resource) =>
      valuesOf(graphNames(resource).sortField).map(
        (field) => `{ field: ${field}, direction: ${isSo() ? 'ASC' : 'DESC'} }`,
      )
    const groupsOf = (resource: Resource) => valuesOf(graphNames(resource).groupField)

    function conditionOf(resource: Resource): string {
      const leaf = one(queryable(resource.leaves).filter(({ field }) => field.type !== 'list'))
      const isSet = `{ isSet: ${isSo()} }`
      const value = operandOf(resource, leaf)
      const isPlain =
        ['string', 'number', 'boolean'].includes(typeof value) && leaf.field.type !== 'enumeration'
      const condition = isPlain && isSo() ? `{ equals: ${JSON.stringify(value)} }` : isSet
      const nested = leaf.path.reduceRight((inner, name) => `{ ${camelCase(name)}: ${inner} }`, condition)
      return isSo() ? nested : `{ ${one(['not', 'and', 'or'])}: ${nested} }`
    }

    function selectionIn(type: unknown, resource: Resource, depth: number): string {
      if (!isObjectType(type)) return ''
      const own = resources.find(({ name }) => name === type.name) ?? resource
      const all = Object.values(type.getFields())
      const isLeaf = ({ type }: GraphQLField<unknown, unknown>) => !isObjectType(getNamedType(type))
      const leaves = some(all.filter(isLeaf), 6)
      const objects =
        depth > 0
          ? some(
              all.filter((field) => !isLeaf(field)),
              3,
            )
          : []
      const chosen =
        leaves.length + objects.length > 0 ? [...leaves, ...objects] : all.filter(isLeaf).slice(0, 1)
      const fields = chosen.map((field) => fieldOf(field, own, depth - 1))
      return ` { __typename ${fields.join(' ')} }`
    }

    function fieldOf(field: GraphQLField<unknown, unknown>, source: Resource, depth: number): string {
      const listedIn = field.extensions['lists'] as Resource | undefined
      const target = listedIn ?? source
      return `${field.name}${argumentsOf(target, field.args)}${selectionIn(getNamedType(field.type), target, depth)}`
    }

    function queryOf(): string {
      const resource = one(resources)
      const names = graphNames(resource)
      const roots = schema.getQueryType()?.getFields() ?? {}
      const name = one([
        names.read,
        names.aggregate,
        ...(resource.listed ? [names.page, names.connection] : []),
      ])
      return `{ ${fieldOf(roots[name] as GraphQLField<unknown, unknown>, resource, 5)} }`
    }

    if (isSo()) return { query: queryOf() }
    const path = pathOf()
    return { path, accept: one(path.includes('page=') ? [...TYPES, ...ITEM_TYPES] : TYPES) }
  }
}

function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}
