import type { Field, LeafField } from '../../../domain/model/fields.ts'
import { IDENTIFIER as PATTERN } from '../../../domain/model/identifiers.ts'

/** A JSON Schema (2020-12), or a part of one. */
export type Schema = { readonly [keyword: string]: unknown }

/** The schema of an identifier. */
export const IDENTIFIER: Schema = { type: 'string', pattern: PATTERN.source, maxLength: 64 }

/** The schema of a field in responses: an unset field is absent, never null. */
export function fieldSchema(field: Field): Schema {
  const { description } = field
  if (field.type !== 'group') return { ...leafSchema(field), description }
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
  if (field.required) return { ...leafSchema(field), ...notBlank(field), description }
  return { ...nullable(leafSchema(field)), description }
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

/** The schema of the value of a field. */
export function leafSchema(field: LeafField): Schema {
  switch (field.type) {
    case 'text':
      return { type: 'string', maxLength: field.maximumLength }
    case 'reference':
      return { type: 'string', maxLength: 500 }
    case 'number':
    case 'integer':
      return { type: field.type, ...bounds(field) }
    case 'boolean':
      return { type: 'boolean' }
    case 'timestamp':
      return { type: 'string', format: 'date-time' }
    case 'enumeration':
      return { type: 'string', enum: field.values }
    case 'fractions':
      return { type: 'object', additionalProperties: { type: 'number', minimum: 0 }, maxProperties: 100 }
  }
}

function bounds({ minimum, maximum }: { minimum?: number; maximum?: number }): Schema {
  return { ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }) }
}

function notBlank(field: LeafField): Schema {
  return field.type === 'text' ? { minLength: 1, pattern: '\\S' } : {}
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
