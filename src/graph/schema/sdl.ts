import { type DocumentNode, type GraphQLFieldResolver, type ObjectTypeDefinitionNode, parse } from 'graphql'
import { authorize } from '../../model/access/caller.ts'
import { type Field, kindOf } from '../../model/definition/fields.ts'
import type { Resource } from '../../model/definition/resource.ts'
import type { Scalar } from '../../model/kinds/kind.ts'
import type { GraphContext } from '../execution/context.ts'
import { camelCase, groupType, parentArgument } from '../names.ts'

export interface SchemaPart {
  readonly typeDefs: string | DocumentNode
  readonly resolvers: Readonly<Record<string, object>>
}

/** A field as SDL, with its resolver, unless the field is named like its column. */
export interface SchemaField {
  readonly sdl: string
  // biome-ignore lint/suspicious/noExplicitAny: each has a parent and arguments of its own
  readonly resolve?: GraphQLFieldResolver<any, GraphContext, any> | undefined
  /** Makes the events of a subscription, which are the sources of the resolver. */
  readonly subscribe?: SchemaField['resolve']
  /** The resource that it lists or aggregates: the extension `lists` of the field in the schema. */
  readonly lists?: Resource
}

/**
 * A type with these fields. The declaration, such as `extend type Query`, precedes the braces. Parsed once, for both the
 * names of the fields and the schema.
 */
export function fieldsOf(type: string, declaration: string, fields: readonly SchemaField[]): SchemaPart {
  // Positions in the text would double the time and the memory of the result.
  const typeDefs = parse(`${declaration} { ${fields.map(({ sdl }) => sdl).join('\n')} }`, {
    noLocation: true,
  })
  const [definition] = typeDefs.definitions as readonly [ObjectTypeDefinitionNode]
  const resolvers = (definition.fields ?? []).flatMap(({ name }, index) => {
    const { resolve, subscribe, ...extensions } = fields[index] as SchemaField
    return resolve ? [[name.value, { resolve, ...(subscribe && { subscribe }), extensions }]] : []
  })
  return { typeDefs, resolvers: { [type]: Object.fromEntries(resolvers) } }
}

/** @param column its name differs from that of a member of a group */
export function typeOf(resource: Resource, name: string, field: Field, column = name): string {
  if (name === 'id' || name === resource.parentField) return 'ID'
  if (field.type === 'group') return groupType(resource, name)
  const { scalar, itemOf } = kindOf(field)
  if (itemOf) return `[${typeOf(resource, name, itemOf(field) as Field, column)}!]`
  return scalar ? scalarName(scalar) : groupType(resource, column)
}

export function filterTypeOf(resource: Resource, name: string, field: Field, column = name): string {
  const item = field.type === 'group' ? undefined : kindOf(field).itemOf?.(field)
  return item
    ? `${typeOf(resource, name, item as Field, column)}ListFilter`
    : `${typeOf(resource, name, field, column)}Filter`
}

export function scalarName(scalar: Scalar): string {
  return typeof scalar === 'string' ? scalar : scalar.name
}

export function memberOf(name: string, field: Field, type: string): string {
  return `${described(field.description)}${camelCase(name)}: ${type}${deprecation(field)}`
}

/** The resolver of a field, which refuses callers without its scope, so that the field is null. */
export function permitted(
  resource: Resource,
  { readScope }: Field,
  resolve: NonNullable<SchemaField['resolve']>,
): NonNullable<SchemaField['resolve']> {
  if (readScope === undefined) return resolve
  return (source, args, context, info) => {
    authorize(context.session.caller, resource, readScope)
    return resolve(source, args, context, info)
  }
}

export function deprecation({ until }: Field): string {
  return until === undefined ? '' : ` @deprecated(reason: "Not in API versions after ${until}.")`
}

export function described(description: string): string {
  return `${JSON.stringify(description)}\n`
}

export function addressArguments(resource: Resource): string {
  return `${parentArguments(resource)}${resource.kind === 'singleton' ? '' : '"Identifier of the resource." id: ID!'}`
}

export function parentArguments(resource: Resource): string {
  const parent = parentArgument(resource)
  return parent ? `"Identifier of the parent." ${parent}: ID!, ` : ''
}
