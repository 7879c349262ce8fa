import type { Field } from '../../model/definition/fields.ts'
import { relationsOf } from '../../model/definition/relations.ts'
import type { Resource } from '../../model/definition/resource.ts'
import { relationsInTitle } from '../../model/definition/titles.ts'
import type { Columns } from '../../model/rows/row.ts'
import { camelCase, singular } from '../names.ts'
import { deprecation, described, permitted, type SchemaField } from './sdl.ts'

/**
 * The references of a resource, and its parent. Each has the name of its field in GraphQL, and the column with the identifier
 * of its target.
 */
export function toOneRelations(resource: Resource, resources: readonly Resource[]) {
  const { owner, parentField, allFields } = resource
  const references = relationsOf(resource, resources).map(
    ({ relation, leaf: { column, field }, target }) => ({
      name: camelCase(relation),
      relation,
      description: `The resource that the ${relation} refers to.`,
      target,
      column,
      field,
    }),
  )
  if (!owner || !parentField) return references
  const parent = { name: singular(owner), relation: 'parent', description: 'The parent.', target: owner }
  return [...references, { ...parent, column: parentField, field: allFields[parentField] as Field }]
}

/** The relations that a title names, without those whose field a view lacks. */
export function titleRelations(resource: Resource, resources: readonly Resource[]) {
  const named = relationsInTitle(resource)
  return toOneRelations(resource, resources).filter(({ relation }) => named.includes(relation))
}

/** Fields with the targets. The source may lack some of the columns. */
export function relatedFields(
  resource: Resource,
  relations: ReturnType<typeof toOneRelations>,
): SchemaField[] {
  return relations.map(({ name, description, target, column, field }) => ({
    sdl: `${described(description)}${name}: ${target.name}${deprecation(field)}`,
    resolve: permitted(resource, field, (row: Columns, _, { session }) => {
      const id = row[column]
      return session.find(target, typeof id === 'string' ? { id } : undefined)
    }),
  }))
}
