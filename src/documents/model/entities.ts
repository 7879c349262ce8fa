import { isAlwaysSet, type LeafField, uniquenessOf } from '../../model/fields.ts'
import { relationsOf } from '../../model/relations.ts'
import type { Leaf, Resource } from '../../model/resource.ts'

/** A primary key, a foreign key, or a value that is unique. */
type Key = 'PK' | 'FK' | 'UK'

export interface Attribute {
  /** The name of the column: that of the field, or `{group}_{member}`. */
  readonly name: string
  readonly type: string
  readonly keys: readonly Key[]
  /** Every row has a value. */
  readonly required: boolean
  readonly description: string
}

export interface Entity {
  readonly resource: Resource
  readonly attributes: readonly Attribute[]
}

/** How many entities are at one end of a relationship. */
export type Cardinality = 'one' | 'zero or one' | 'zero or more'

/** A foreign key: from the entity it refers to, to the entity that has it. */
export interface Relationship {
  readonly parent: Resource
  readonly child: Resource
  readonly column: string
  readonly label: string
  readonly parents: Cardinality
  readonly children: Cardinality
  /** Whether the key of the child includes that of the parent. */
  readonly identifying: boolean
}

export interface DataModel {
  readonly entities: readonly Entity[]
  readonly relationships: readonly Relationship[]
}

export function dataModel(resources: readonly Resource[]): DataModel {
  return {
    entities: resources.map((resource) => ({ resource, attributes: attributesOf(resource) })),
    relationships: resources.flatMap((resource) => relationshipsOf(resource, resources)),
  }
}

function attributesOf(resource: Resource): Attribute[] {
  return resource.leaves.map((leaf) => ({
    name: leaf.column,
    type: leaf.field.type === 'reference' ? 'identifier' : typeOf(resource, leaf),
    keys: keysOf(resource, leaf),
    required: isAlwaysSet(leaf.field),
    description: leaf.field.description,
  }))
}

function typeOf({ parentField }: Resource, { name, field }: Leaf): LeafField['type'] | 'identifier' {
  return name === 'id' || name === parentField ? 'identifier' : field.type
}

function keysOf({ parentField }: Resource, { name, field }: Leaf): Key[] {
  if (name === parentField) return ['PK', 'FK']
  if (name === 'id') return ['PK']
  const foreign: Key[] = field.type === 'reference' ? ['FK'] : []
  return uniquenessOf(field) === 'collection' ? [...foreign, 'UK'] : foreign
}

function relationshipsOf(resource: Resource, resources: readonly Resource[]): Relationship[] {
  const { owner, parentField, listed } = resource
  const owned: Relationship[] =
    owner && parentField
      ? [
          {
            parent: owner,
            child: resource,
            column: parentField,
            label: 'owns',
            parents: 'one',
            children: listed ? 'zero or more' : 'zero or one',
            identifying: true,
          },
        ]
      : []
  const references = relationsOf(resource, resources).map(
    ({ relation, leaf, target }): Relationship => ({
      parent: target,
      child: resource,
      column: leaf.column,
      label: relation,
      parents: isAlwaysSet(leaf.field) ? 'one' : 'zero or one',
      children: 'zero or more',
      identifying: false,
    }),
  )
  return [...owned, ...references]
}
