import { isAlwaysSet, uniquenessOf } from '../../model/fields.ts'
import { relationsOf } from '../../model/relations.ts'
import type { Leaf, Resource } from '../../model/resource.ts'

/** A primary key, a foreign key, or a value that is unique. */
type Key = 'PK' | 'FK' | 'UK'

interface Attribute {
  /** The name of the column: that of the field, or `{group}_{member}`. */
  readonly name: string
  readonly type: string
  readonly keys: readonly Key[]
  readonly required: boolean
  readonly description: string
}

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

export function attributesOf(resource: Resource): Attribute[] {
  return resource.leaves.map((leaf) => {
    const { column: name, field } = leaf
    const keys = keysOf(resource, leaf)
    const type = keys.some((key) => key !== 'UK') ? 'identifier' : field.type
    return { name, type, keys, required: isAlwaysSet(field), description: field.description }
  })
}

function keysOf({ parentField }: Resource, { name, field }: Leaf): Key[] {
  if (name === parentField) return ['PK', 'FK']
  if (name === 'id') return ['PK']
  const foreign: Key[] = field.type === 'reference' ? ['FK'] : []
  return uniquenessOf(field) === 'collection' ? [...foreign, 'UK'] : foreign
}

export function relationshipsOf(resources: readonly Resource[]): Relationship[] {
  return resources.flatMap((child) => [
    ...ownership(child),
    ...relationsOf(child, resources).map(
      ({ relation, leaf, target }): Relationship => ({
        parent: target,
        child,
        column: leaf.column,
        label: relation,
        parents: isAlwaysSet(leaf.field) ? 'one' : 'zero or one',
        children: 'zero or more',
        identifying: false,
      }),
    ),
  ])
}

function ownership(child: Resource): Relationship[] {
  const { owner: parent, parentField: column, listed } = child
  if (!parent || !column) return []
  const children = listed ? 'zero or more' : 'zero or one'
  return [{ parent, child, column, label: 'owns', parents: 'one', children, identifying: true }]
}
