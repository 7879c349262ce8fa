import { type Field, type GroupField, isAlwaysSet, type LeafField } from '../../domain/model/fields.ts'
import { operatorsOf } from '../../domain/model/query.ts'
import type { Resource } from '../../domain/model/resource.ts'
import { camelCase, groupType } from '../names.ts'

/** The GraphQL type of a leaf, without its nullability. */
export function leafType(resource: Resource, name: string, field: LeafField): string {
  if (name === 'id' || name === resource.parentField) return 'ID'
  if (field.type === 'enumeration') return groupType(resource, name)
  return SCALARS[field.type]
}

/** The type of a field of an object type. */
export function outputType(resource: Resource, name: string, field: Field): string {
  const type = field.type === 'group' ? groupType(resource, name) : leafType(resource, name, field)
  return isAlwaysSet(field) ? `${type}!` : type
}

/** The type of a field of an input type, without its nullability. */
export function inputType(resource: Resource, name: string, field: Field): string {
  return field.type === 'group' ? `${groupType(resource, name)}Input` : leafType(resource, name, field)
}

/** The type that filters a leaf; empty where it cannot be filtered. */
export function filterType(resource: Resource, name: string, field: LeafField): string {
  if (operatorsOf({ name, path: [name], column: name, field }).length === 0) return ''
  const type = leafType(resource, name, field)
  return `${type}Filter`
}

/** A member of a type, with its description. */
export function memberOf(name: string, { description }: Field, type: string): string {
  return `${described(description)}${camelCase(name)}: ${type}`
}

/** A description, as SDL has it before what it describes. */
export function described(description: string): string {
  return `${JSON.stringify(description)}\n`
}

/** The fields of a resource that hold an object. */
export function groups(resource: Resource): [string, GroupField][] {
  return Object.entries(resource.fields).filter(
    (entry): entry is [string, GroupField] => entry[1].type === 'group',
  )
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
