import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
} from 'graphql'
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

export interface MappedType {
  readonly name: string
  readonly description: string
  /** Undefined for an object within a resource. */
  readonly resource: Resource | undefined
  readonly fields: readonly MappedField[]
  readonly operations: readonly string[]
}

/**
 * The object types of resources and of the objects in them, and how fields connect them. Pages and connections are
 * folded into the type of their items; aggregates and payloads are omitted.
 */
export function typeMap(schema: GraphQLSchema, resources: readonly Resource[]): MappedType[] {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
  const operationFields = Object.assign({}, ...roots.map((root) => root?.getFields()))
  const types = new Map<string, MappedType>()
  const visit = (name: string, resource?: Resource) => {
    if (types.has(name)) return
    const type = schema.getType(name) as GraphQLObjectType
    const fields = Object.values(type.getFields()).map(mappedField)
    const names = resource ? Object.values(graphNames(resource)) : []
    const operations = names.filter((one) => one in operationFields)
    types.set(name, { name, description: type.description ?? '', resource, fields, operations })
    for (const { target } of fields) {
      if (target !== undefined && !resources.some((one) => one.name === target)) visit(target)
    }
  }
  for (const resource of resources) visit(resource.name, resource)
  return [...types.values()]
}

function mappedField({ name, type, description, extensions }: GraphQLField<unknown, unknown>): MappedField {
  const named = getNamedType(type)
  const listed = extensions['lists'] as Resource | undefined
  const list = named.name === (listed && graphNames(listed).pageType) ? 'page' : 'connection'
  const kind = listed ? list : isObjectType(named) ? 'object' : 'value'
  const target = listed?.name ?? (isObjectType(named) ? named.name : undefined)
  return { name, type: String(type), description: description ?? '', target, kind }
}
