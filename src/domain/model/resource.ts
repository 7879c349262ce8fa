import type { DatabaseRule } from './database-rule.ts'
import type { Detail } from './errors.ts'
import { type Field, type LeafField, text, timestamp } from './fields.ts'

/** A resource as the domain sees it: wire names, nested as on the wire, unset fields absent. */
export type Values = { readonly [field: string]: unknown }

/** A statement about a whole resource. `before` is what it was, and is absent when it is being created. */
export type Rule = (values: Values, before: Values | undefined) => readonly Detail[]

/** What a resource definition says. Everything else about a resource is derived from it. */
interface ResourceDefinition {
  /** A group of its own, a group owned by a parent, or one per parent (SPEC §1.2). */
  readonly kind: 'collection' | 'owned' | 'singleton'
  /** In the singular, as a GraphQL type: `Species`, `TrainingRecord`. Also the Prisma model. */
  readonly name: string
  /** The last fixed segment of its address (SPEC §1.2); its scopes and its table are named after it. */
  readonly path: string
  readonly description: string
  /** The parent, of the kinds that have one. */
  readonly owner?: Resource
  /** In the order in which they are shown and in which problems are reported. */
  readonly fields: Readonly<Record<string, Field>>
  /** What a client might send to create one; documents show it. Without it they show something made up. */
  readonly example?: Values
  /** The field that holds the moment of creation. */
  readonly createdField?: string
  /** Resources are added and deleted, never changed. */
  readonly appendOnly?: true
  /** Made identifiers tell nothing, not even an order (SPEC §2.5.7). */
  readonly randomIdentifiers?: true
  /** What the body alone can break: answered with 400. */
  readonly checks?: readonly Rule[]
  /** What a well-formed body can break: answered with 422. */
  readonly rules?: readonly Rule[]
  /** What only the other resources can tell; runs in the transaction of the write. */
  readonly databaseRule?: DatabaseRule
}

/** A field that holds one value, where it stands in the representation, and the column it lives in. */
export interface Leaf {
  /** Dotted, as filters and error details name it: `temperature_range.min_celsius`. */
  readonly name: string
  readonly path: readonly string[]
  readonly column: string
  readonly field: LeafField
}

/** A definition together with what follows from it. */
export interface Resource extends ResourceDefinition {
  readonly createdField: string
  /** All fields of a representation in order: the identifiers, the definition's own, the timestamps. */
  readonly allFields: Readonly<Record<string, Field>>
  /** Those that a REST representation shows; GraphQL shows all. */
  readonly shownFields: Readonly<Record<string, Field>>
  /** Those of them that a caller may write. */
  readonly writableFields: Readonly<Record<string, Field>>
  /** The fields of `allFields` with the groups opened. */
  readonly leaves: readonly Leaf[]
  readonly shownLeaves: readonly Leaf[]
  /** The leaves a caller may write. */
  readonly writable: readonly Leaf[]
  /** The wire name of the parent's identifier, `planet_id`, where there is a parent. */
  readonly parentField: string | undefined
}

/** Always there, and never the caller's to set. */
const KEPT = { required: true, readOnly: true } as const

/** Completes a definition. Called once for each, when its module is loaded. */
export function defineResource(definition: ResourceDefinition): Resource {
  const createdField = definition.createdField ?? 'created_date'
  const parentField = definition.owner && identifierField(definition.owner)
  const allFields: Readonly<Record<string, Field>> = {
    id: text('Identifier, immutable. Made by the service on POST, chosen by the client on PUT.', KEPT),
    ...(parentField && { [parentField]: text('Identifier of the parent.', KEPT) }),
    ...definition.fields,
    [createdField]: timestamp('When the resource was created.', KEPT),
    last_updated: timestamp('When the resource last changed.', KEPT),
  }
  const shownFields = fieldsWhere(allFields, ({ hidden }) => !hidden)
  const writableFields = fieldsWhere(shownFields, ({ readOnly }) => !readOnly)
  const leaves = Object.entries(allFields).flatMap(([name, field]) => leavesOf(name, field))
  const within = (fields: object) => leaves.filter(({ path }) => (path[0] as string) in fields)
  return {
    ...definition,
    createdField,
    parentField,
    allFields,
    shownFields,
    writableFields,
    leaves,
    shownLeaves: within(shownFields),
    writable: within(writableFields).filter(({ field }) => !field.readOnly),
  }
}

function fieldsWhere(fields: Resource['allFields'], holds: (field: Field) => boolean): Resource['allFields'] {
  return Object.fromEntries(Object.entries(fields).filter(([, field]) => holds(field)))
}

/** The table of a collection, after which PostgreSQL's constraints are named. */
export function tableName(path: string): string {
  return path.replaceAll('-', '_')
}

/** The wire name of a field that holds the identifier of such a resource: `planet_id`. */
export function identifierField({ name }: ResourceDefinition): string {
  return `${name.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()}_id`
}

function leavesOf(name: string, field: Field): Leaf[] {
  if (field.type !== 'group') return [{ name, path: [name], column: name, field }]
  return Object.entries(field.fields).map(([member, leaf]) => ({
    name: `${name}.${member}`,
    path: [name, member],
    column: `${name}_${member}`,
    field: leaf,
  }))
}
