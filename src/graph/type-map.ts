import { type GraphQLObjectType, type GraphQLSchema, getNamedType, isObjectType } from 'graphql'
import type { Resource } from '../model/resource.ts'
import { graphNames } from './names.ts'

export interface MappedField {
  readonly name: string
  /** As SDL: `[Moon!]!`. */
  readonly type: string
  readonly description: string
  /** The object type of the field; for a page or a connection, that of its items. */
  readonly target: string | undefined
  readonly kind: 'value' | 'object' | 'page' | 'connection'
}

/** An object type and its operations. */
export interface MappedType {
  readonly name: string
  readonly description: string
  /** Undefined for an object within a resource. */
  readonly resource: Resource | undefined
  readonly fields: readonly MappedField[]
  readonly operations: readonly string[]
}

/** Pages and connections by their names, with the type of their items. */
type Lists = ReadonlyMap<string, List>

interface List {
  readonly kind: 'page' | 'connection'
  readonly items: string
}

/**
 * The object types of resources and of the objects in them, and how fields connect them. Pages and connections are
 * folded into the type of their items; aggregates and payloads are omitted.
 */
export function typeMap(schema: GraphQLSchema, resources: readonly Resource[]): MappedType[] {
  const lists: Lists = new Map(
    resources.flatMap((resource): [string, List][] => {
      const { pageType, connectionType, type } = graphNames(resource)
      return [
        [pageType, { kind: 'page', items: type }],
        [connectionType, { kind: 'connection', items: type }],
      ]
    }),
  )
  const types = new Map<string, MappedType>()
  const visit = (name: string, resource?: Resource) => {
    if (types.has(name)) return
    const type = schema.getType(name) as GraphQLObjectType
    const fields = fieldsOf(type, lists)
    const operations = resource ? operationsOf(resource, schema) : []
    types.set(name, { name, description: type.description ?? '', resource, fields, operations })
    for (const { target } of fields) {
      if (target !== undefined && !resources.some((one) => one.name === target)) visit(target)
    }
  }
  for (const resource of resources) visit(resource.name, resource)
  return [...types.values()]
}

function fieldsOf(type: GraphQLObjectType, lists: Lists): MappedField[] {
  return Object.values(type.getFields()).map(({ name, type, description }) => {
    const named = getNamedType(type)
    const list = lists.get(named.name)
    const kind = list?.kind ?? (isObjectType(named) ? 'object' : 'value')
    const target = list?.items ?? (kind === 'object' ? named.name : undefined)
    return { name, type: String(type), description: description ?? '', target, kind }
  })
}

function operationsOf(resource: Resource, schema: GraphQLSchema): string[] {
  const { read, page, connection, aggregate, create, put, patch, delete: remove } = graphNames(resource)
  const fields = { ...schema.getQueryType()?.getFields(), ...schema.getMutationType()?.getFields() }
  return [read, page, connection, aggregate, create, put, patch, remove].filter((name) => name in fields)
}
