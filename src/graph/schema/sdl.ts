import { type Field, isAlwaysSet, type LeafField } from '../../domain/model/fields.ts'
import { operatorsOf } from '../../domain/model/query.ts'
import type { Resource } from '../../domain/model/resource.ts'
import { camelCase, groupType } from '../names.ts'

/** A part of the schema: its types, and the resolvers of their fields and the values of their enumerations. */
export interface SchemaPart {
  readonly typeDefs: string
  readonly resolvers?: Readonly<Record<string, object>>
}

/** An argument of a field. */
export interface Argument {
  readonly name: string
  readonly description: string
  readonly type: string
  /** The value it has when it is not given, as SDL. */
  readonly otherwise?: string
}

/** The GraphQL type of a leaf, without its nullability. */
export function leafType(resource: Resource, name: string, field: LeafField): string {
  if (name === 'id' || name === resource.parentField) return 'ID'
  if (field.type === 'enumeration') return groupType(resource, name)
  return SCALARS[field.type]
}

const SCALARS = {
  text: 'String',
  reference: 'ID',
  number: 'Float',
  integer: 'Int',
  boolean: 'Boolean',
  timestamp: 'DateTime',
  fractions: 'Fractions',
} as const

/** The type of a field of an object type. */
export function outputType(resource: Resource, name: string, field: Field): string {
  const type = field.type === 'group' ? groupType(resource, name) : leafType(resource, name, field)
  return isAlwaysSet(field) ? `${type}!` : type
}

/** The type of a field of an input type, without its nullability. */
export function inputType(resource: Resource, name: string, field: Field): string {
  return field.type === 'group' ? `${groupType(resource, name)}Input` : leafType(resource, name, field)
}

/** The type that filters a field; empty where it cannot be filtered. */
export function filterType(resource: Resource, name: string, field: Field): string {
  if (field.type === 'group') return `${groupType(resource, name)}Filter`
  return operatorsOf({ field }).length === 0 ? '' : `${leafType(resource, name, field)}Filter`
}

/** A member of a type that stands for a field of a resource, with its description. */
export function memberOf(name: string, { description }: Field, type: string): string {
  return `${described(description)}${camelCase(name)}: ${type}`
}

/** A field with its arguments. */
export function fieldOf(name: string, description: string, args: readonly Argument[], type: string): string {
  const list = args.map(
    (one) =>
      `${described(one.description)}${one.name}: ${one.type}${one.otherwise ? ` = ${one.otherwise}` : ''}`,
  )
  return `${described(description)}${name}${list.length > 0 ? `(${list.join(', ')})` : ''}: ${type}`
}

/** A description, as SDL has it before what it describes. */
export function described(description: string): string {
  return `${JSON.stringify(description)}\n`
}
