import { type Field, isAlwaysShown, isRequired, kindOf } from '../../model/definition/fields.ts'
import { labelOf } from '../../model/definition/labels.ts'
import type { Schema } from '../../model/kinds/kind.ts'
import { IDENTIFIER as PATTERN } from '../../model/rows/identifiers.ts'
import { mapped } from '../../model/values.ts'

export type { Schema }

/** Schemas or other OpenAPI objects, by name. */
export type Schemas = Readonly<Record<string, Schema>>

export const TEXT: Schema = { type: 'string' }
export const INTEGER: Schema = { type: 'integer' }
export const URI: Schema = { type: 'string', format: 'uri' }

export const IDENTIFIER: Schema = { type: 'string', pattern: PATTERN.source, maxLength: 64 }

/** Tools make types of components of every kind, some regardless of case: only schemas have names without an ending. */
const ENDINGS = {
  schemas: '',
  parameters: 'Parameter',
  headers: 'Header',
  responses: 'Response',
  examples: 'Example',
}

type Section = keyof typeof ENDINGS

/** The members of a section of the components. */
export function components(section: Section, members: Schemas): Schemas {
  return Object.fromEntries(
    Object.entries(members).map(([name, member]) => [name + ENDINGS[section], member]),
  )
}

export function component(section: Section, name: string): Schema {
  return { $ref: `#/components/${section}/${name}${ENDINGS[section]}` }
}

export function schemaNamed(name: string): Schema {
  return component('schemas', name)
}

/** A link in HAL. */
export const LINK = schemaNamed('Link')

export function listOf(name: string): Schema {
  return { type: 'array', items: schemaNamed(name) }
}

export function annotations(field: Field, name: string): Schema {
  const { description, unit } = field
  return { title: labelOf(name, field), description, ...(unit !== undefined && { 'x-unit': unit }) }
}

/** For responses: an unset field is absent, never null. */
export function fieldSchema(field: Field, name: string): Schema {
  const mark = field.readOnly && { readOnly: true }
  if (field.type !== 'group') return { ...kindOf(field).schema(field), ...annotations(field, name), ...mark }
  const shown = namesWhere(field.fields, isAlwaysShown)
  return { ...objectSchema(mapped(field.fields, fieldSchema), shown), ...annotations(field, name) }
}

const READ_ONLY = 'Read-only: ignored on creation; later, another value is refused.'

/**
 * For requests: null stands for absent, or on PATCH for removed (RFC 7396).
 *
 * @param options `isOpen`: unknown members of an object are ignored; `marksReadOnly`: read-only fields have `readOnly`;
 *   `isWhole`: no required member of a group can be missing
 */
export function inputFieldSchema(
  field: Field,
  name: string,
  options: { readonly isOpen: boolean; readonly marksReadOnly: boolean; readonly isWhole: boolean },
): Schema {
  const said = annotations(field, name)
  if (field.type === 'group') {
    const members = mapped(field.fields, (member, inner) => inputFieldSchema(member, inner, options))
    const schema = objectSchema(
      members,
      options.isWhole ? namesWhere(field.fields, isRequired) : [],
      options.isOpen,
    )
    return { ...(isRequired(field) ? schema : nullable(schema)), ...said }
  }
  if (field.readOnly) {
    const type = kindOf(field).schema(field)['type']
    const description = `${field.description} ${READ_ONLY}`
    const mark = options.marksReadOnly && { readOnly: true }
    return { ...(type !== undefined && { type: [type, 'null'] }), ...said, description, ...mark }
  }
  if (field.required) return { ...kindOf(field).schema(field), ...kindOf(field).notBlank?.(field), ...said }
  return { ...nullable(kindOf(field).schema(field)), ...said }
}

export function namesWhere(
  fields: Readonly<Record<string, Field>>,
  holds: (field: Field) => boolean,
): string[] {
  return Object.keys(fields).filter((name) => holds(fields[name] as Field))
}

/** By default, all properties are required and no others are allowed. */
export function objectSchema(
  properties: Schemas,
  required: readonly string[] = Object.keys(properties),
  isOpen = false,
): Schema {
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: isOpen,
  }
}

function nullable(schema: Schema): Schema {
  // A schema without a type already allows null.
  if (schema['type'] === undefined) return schema
  return {
    ...schema,
    type: [schema['type'], 'null'],
    ...(Array.isArray(schema['enum']) && { enum: [...schema['enum'], null] }),
  }
}
