import { type Field, kindOf, type LeafField } from '../../model/fields.ts'
import { IDENTIFIER as PATTERN } from '../../model/identifiers.ts'
import type { Schema } from '../../model/kinds/kind.ts'

export type { Schema }

export const IDENTIFIER: Schema = { type: 'string', pattern: PATTERN.source, maxLength: 64 }

/** The schema of a field in responses: an unset field is absent, never null. */
export function fieldSchema(field: Field): Schema {
  const { description } = field
  if (field.type !== 'group') return { ...kindOf(field).schema(field), description }
  const members = Object.entries(field.fields)
  return { ...objectSchema(schemasOf(members, fieldSchema)), description }
}

/** The schema of a field in requests: null stands for absent, or on PATCH for removed (RFC 7396). */
export function inputFieldSchema(field: Field, { patch }: { patch: boolean }): Schema {
  const { description } = field
  if (field.type === 'group') {
    const members = Object.entries(field.fields)
    const schemas = schemasOf(members, (member) => inputFieldSchema(member, { patch }))
    return { ...nullable(objectSchema(schemas)), description }
  }
  if (field.required) return { ...kindOf(field).schema(field), ...kindOf(field).notBlank, description }
  return { ...nullable(kindOf(field).schema(field)), description }
}

function schemasOf(
  fields: [string, LeafField][],
  make: (field: LeafField) => Schema,
): Record<string, Schema> {
  return Object.fromEntries(fields.map(([name, field]) => [name, make(field)]))
}

/** An object with these members and no others. */
export function objectSchema(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): Schema {
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

function nullable(schema: Schema): Schema {
  return {
    ...schema,
    type: [schema['type'], 'null'],
    ...(Array.isArray(schema['enum']) && { enum: [...schema['enum'], null] }),
  }
}

/** The schema of a body whose unknown fields are ignored, in groups as well (setting UNKNOWN_FIELDS). */
export function withUnknownFields(schema: Schema): Schema {
  if (typeof schema['properties'] !== 'object') return schema
  const properties = Object.entries(schema['properties'] as Record<string, Schema>)
  return {
    ...schema,
    properties: Object.fromEntries(properties.map(([name, member]) => [name, withUnknownFields(member)])),
    additionalProperties: true,
  }
}
