import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
} from 'graphql'
import type { Resource } from '../model/definition/resource.ts'
import { graphNames } from './names.ts'

export type MappedType = ReturnType<typeof mappedType>

/**
 * The object types of resources and of the objects in them, and how fields connect them. Pages and connections are
 * replaced by the type of their items; aggregates and payloads are omitted.
 */
export function typeMap(schema: GraphQLSchema, resources: readonly Resource[]): MappedType[] {
  const types = new Map<string, MappedType>()
  const visit = (name: string, resource?: Resource) => {
    if (types.has(name)) return
    const type = mappedType(schema, name, resource)
    types.set(name, type)
    for (const { target } of type.fields) {
      if (target !== undefined && !resources.some((one) => one.name === target)) visit(target)
    }
  }
  for (const resource of resources) visit(resource.name, resource)
  return [...types.values()]
}

/** A type, with its resource and operations; without both for an object within a resource. */
function mappedType(schema: GraphQLSchema, name: string, resource: Resource | undefined) {
  const type = schema.getType(name) as GraphQLObjectType
  const fields = Object.values(type.getFields()).map(mappedField)
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
  const names = resource ? Object.values(graphNames(resource)) : []
  const operations = names.filter((one) => roots.some((root) => root?.getFields()[one]))
  return { name, description: type.description ?? '', resource, fields, operations }
}

/** A field, with its type as SDL (`[Moon!]!`) and the object type of its value or, for a list, of its items. */
function mappedField({ name, type, description, extensions }: GraphQLField<unknown, unknown>) {
  const named = getNamedType(type)
  const listed = extensions['lists'] as Resource | undefined
  const list = named.name === (listed && graphNames(listed).pageType) ? 'page' : 'connection'
  const kind = listed ? list : isObjectType(named) ? 'object' : 'value'
  const target = listed?.name ?? (isObjectType(named) ? named.name : undefined)
  return { name, type: String(type), description: description ?? '', target, kind } as const
}
