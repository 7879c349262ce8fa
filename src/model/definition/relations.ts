import type { ReferenceField } from '../kinds/reference.ts'
import type { Leaf, Resource } from './resource.ts'
import { nameField } from './titles.ts'

/** The relations of the links in HAL, besides those to related resources, and what each leads to (SPEC §2.2, §2.3). */
export const HAL_RELATIONS = {
  self: 'the resource, or the page of the list',
  collection: 'the list that the resource belongs to',
  parent: 'the owner of the resource or the list',
  edit: 'the resource, if PUT and PATCH may change it',
  delete: 'the resource, for DELETE',
  first: 'the first page',
  last: 'the last page',
  next: 'the page after',
  prev: 'the page before',
  find: 'one item by its identifier',
}

export type HalRelation = keyof typeof HAL_RELATIONS

interface Relation {
  readonly from: Resource
  /** The link relation (SPEC §2.5.2). */
  readonly relation: string
  /** The link relation from the target to the list of the resources that refer to it. */
  readonly inverse: string
  readonly leaf: Leaf & { readonly field: ReferenceField }
  readonly target: Resource
}

export function relationsOf(from: Resource, resources: readonly Resource[]): Relation[] {
  return referenceLeaves(from).flatMap((leaf) => {
    const target = resources.find(({ path }) => path === leaf.field.to)
    const { relation, inverse = from.path } = leaf.field
    return target ? [{ from, relation, inverse, leaf, target }] : []
  })
}

/**
 * The target of a field that holds identifiers, or also matches those of another field: its collection, the field with its
 * name, and the link relation. Undefined for other fields.
 */
export function targetOf(resource: Resource, leaf: Leaf, resources: readonly Resource[]) {
  const { owner, parentField } = resource
  const named = (target: Resource) => ({ path: target.path, name_field: nameField(target) })
  if (owner && leaf.name === parentField) return { ...named(owner), relation: 'parent' }
  const column = ('alsoMatches' in leaf.field && leaf.field.alsoMatches) || leaf.column
  const found = relationsOf(resource, resources).find((one) => one.leaf.column === column)
  return found && { ...named(found.target), relation: found.relation }
}

export function referencesTo(target: Resource, resources: readonly Resource[]): Relation[] {
  return resources.flatMap((from) => relationsOf(from, [target]))
}

export function ownedBy(resource: Resource, resources: readonly Resource[]): Resource[] {
  return resources.filter(({ owner }) => owner === resource)
}

/**
 * The targets of a resource's links, besides itself and its collection (SPEC §2.3, §2.5): the targets of its references;
 * what it owns, and the lists below it; the filtered lists of other resources that refer to it.
 */
export function linkedFrom(resource: Resource, resources: readonly Resource[]) {
  const referring = referencesTo(resource, resources).filter(({ from }) => from.kind === 'collection')
  const owned = ownedBy(resource, resources).map((child) => ({ child, relation: child.path }))
  const lists = referring.map(({ from, inverse, leaf }) => ({ child: from, relation: inverse, leaf }))
  return {
    references: relationsOf(resource, resources),
    children: [...owned, ...lists.filter(({ leaf }) => leaf.field.nested)],
    filtered: lists.filter(({ leaf }) => !leaf.field.nested),
  }
}

export function referenceLeaves({ leaves }: Resource): Relation['leaf'][] {
  return leaves.filter((leaf): leaf is Relation['leaf'] => leaf.field.type === 'reference')
}
