import type { DatabaseRule } from './database-rule.ts'
import type { Detail, Explanation } from './errors.ts'
import { type Field, isOfSomeVersions, type LeafField } from './fields.ts'
import { text } from './kinds/text.ts'
import { timestamp } from './kinds/timestamp.ts'
import { inWords, labelOf, labelWithUnit } from './labels.ts'

/** Values by the names of their fields: a representation (wire names, without unset fields), an input, a result. */
export type Values = { readonly [field: string]: unknown }

/** Validates a whole resource. `before` is its previous state, undefined for a new resource. */
export type Rule = (values: Values, before: Values | undefined) => readonly Detail[]

/** The definition of a resource, from which everything else is derived. */
export interface ResourceDefinition {
  /** A collection, a collection owned by a parent, or one resource per parent (SPEC §1.2). */
  readonly kind: 'collection' | 'owned' | 'singleton'
  /** The singular, which names the GraphQL type and the Prisma model: `Species`, `TrainingRecord`. */
  readonly name: string
  /** The last fixed segment of its URL (SPEC §1.2), which also names its scopes and its table. */
  readonly path: string
  /** The former path of a renamed resource, whose rows `npm run resource -- migrate` keeps. */
  readonly renamedFrom?: string
  readonly description: string
  /** The parent; a collection has none. */
  readonly owner?: Resource
  /** In the order of representations and of reported problems. */
  readonly fields: Readonly<Record<string, Field>>
  /** An example request body for the documents, which otherwise generate one. */
  readonly example?: Values
  /** The field with the timestamp of creation; `created_date` by default. */
  readonly createdField?: string
  /** Resources can be added and deleted but not changed. */
  readonly appendOnly?: true
  /** An index on the texts serves searches, and the conditions that look for a part of one. It needs pg_trgm. */
  readonly searchIndex?: true
  /** An index on `last_updated` serves lists in the order of changes. */
  readonly updatedIndex?: true
  /** Generated identifiers reveal nothing, not even the order of creation (SPEC §2.5.7). */
  readonly randomIdentifiers?: true
  /** Rules that need only the body. A violation is a 400. */
  readonly checks?: readonly Rule[]
  /** Rules for well-formed bodies. A violation is a 422. */
  readonly rules?: readonly Rule[]
  /** A rule that reads other resources, in the transaction of the write. */
  readonly databaseRule?: DatabaseRule
  /** The codes of details that only these rules report, for the documents. */
  readonly detailCodes?: Readonly<Record<string, Explanation>>
}

/** A field that holds one value, with its path in the representation and its column. */
export interface Leaf {
  /** Dotted, as filters and error details name it: `temperature_range.min_celsius`. */
  readonly name: string
  readonly path: readonly string[]
  readonly column: string
  /** For people, with the group and the unit: `Temperature range: Minimum (°C)`. */
  readonly label: string
  readonly field: LeafField
}

/** A definition with the properties derived from it. */
export interface Resource extends ResourceDefinition {
  readonly createdField: string
  /** It is one of many: it can be listed, and created with an identifier made here. */
  readonly listed: boolean
  /** It can be replaced and patched. All can be read and deleted (SPEC §4). */
  readonly replaceable: boolean
  /** All fields of a representation in order: the identifiers, the definition's own, the timestamps. */
  readonly allFields: Readonly<Record<string, Field>>
  /** The fields of a REST representation. GraphQL has all fields. */
  readonly shownFields: Readonly<Record<string, Field>>
  /** The shown fields that a caller may write. */
  readonly writableFields: Readonly<Record<string, Field>>
  /** The leaves of `allFields`: groups are replaced with their members. */
  readonly leaves: readonly Leaf[]
  readonly shownLeaves: readonly Leaf[]
  /** The leaves that a caller may write. */
  readonly writable: readonly Leaf[]
  /** The wire name of the parent's identifier, such as `planet_id`, if there is a parent. */
  readonly parentField: string | undefined
  /** Some of its fields are only in some versions of the API. */
  readonly isVersioned: boolean
  /** The version of the API that this is a view for (`views.ts`); undefined for the resource itself. */
  readonly apiVersion?: string
}

/** The options of fields that the service sets. */
const SET_BY_SERVICE = { required: true, readOnly: true } as const

/** Completes a definition. Each module of a resource calls this once; views are completed in the same way. */
export function defineResource(definition: ResourceDefinition): Resource {
  const createdField = definition.createdField ?? 'created_date'
  const parentField = definition.owner && identifierField(definition.owner)
  const allFields: Readonly<Record<string, Field>> = {
    id: text('Identifier, immutable. Generated by the service on POST, chosen by the client on PUT.', {
      ...SET_BY_SERVICE,
      label: 'ID',
    }),
    ...(parentField && {
      [parentField]: text('Identifier of the parent.', {
        ...SET_BY_SERVICE,
        label: inWords(parentField.replace(/_id$/, '')),
      }),
    }),
    ...definition.fields,
    [createdField]: timestamp('When the resource was created.', SET_BY_SERVICE),
    last_updated: timestamp('When the resource last changed.', {
      ...SET_BY_SERVICE,
      ...(definition.updatedIndex && { index: 'sort' }),
    }),
  }
  const shownFields = fieldsWhere(allFields, ({ hidden }) => !hidden)
  const writableFields = fieldsWhere(shownFields, ({ readOnly }) => !readOnly)
  const leaves = Object.entries(allFields).flatMap(([name, field]) => leavesOf(name, field))
  const within = (fields: object) => leaves.filter(({ path }) => (path[0] as string) in fields)
  return {
    ...definition,
    createdField,
    listed: definition.kind !== 'singleton',
    replaceable: !definition.appendOnly,
    parentField,
    allFields,
    shownFields,
    writableFields,
    leaves,
    shownLeaves: within(shownFields),
    writable: within(writableFields).filter(({ field }) => !field.readOnly),
    isVersioned: Object.values(allFields).some(isOfSomeVersions),
  }
}

function fieldsWhere(fields: Resource['allFields'], holds: (field: Field) => boolean): Resource['allFields'] {
  return Object.fromEntries(Object.entries(fields).filter(([, field]) => holds(field)))
}

/** The table of a collection, which is also the prefix of its constraints. */
export function tableName(path: string): string {
  return path.replaceAll('-', '_')
}

/** The wire name of a field with the identifier of such a resource, such as `planet_id`. */
export function identifierField({ name }: Pick<ResourceDefinition, 'name'>): string {
  return `${name.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()}_id`
}

function leavesOf(name: string, field: Field): Leaf[] {
  if (field.type !== 'group') {
    return [{ name, path: [name], column: name, label: labelWithUnit(name, field), field }]
  }
  return Object.entries(field.fields).map(([member, leaf]) => ({
    name: `${name}.${member}`,
    path: [name, member],
    column: `${name}_${member}`,
    label: `${labelOf(name, field)}: ${labelWithUnit(member, leaf)}`,
    field: { ...versionsOf(field), ...leaf },
  }))
}

/** The versions of a group are those of its members, unless they say otherwise. */
function versionsOf({ since, until }: Field): Pick<Field, 'since' | 'until'> {
  return { ...(since !== undefined && { since }), ...(until !== undefined && { until }) }
}
