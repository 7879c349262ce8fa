import type { ReferenceField } from './fields.ts'
import type { Leaf, Resource } from './resource.ts'

/** A resource that refers to another by identifier, seen from the one that refers. */
interface Relation {
  /** The link relation (SPEC §2.5.2). */
  readonly relation: string
  readonly leaf: Leaf & { readonly field: ReferenceField }
  readonly target: Resource
}

/** The same, seen from the one that is referred to. */
interface InverseRelation {
  readonly from: Resource
  readonly leaf: Leaf & { readonly field: ReferenceField }
}

/** The references a resource holds. */
export function relationsOf(resource: Resource, resources: readonly Resource[]): Relation[] {
  return referenceLeaves(resource).map((leaf) => ({
    relation: leaf.field.relation,
    leaf,
    target: resources.find(({ path }) => path === leaf.field.to) as Resource,
  }))
}

/** The references that lead to a resource. */
export function referencesTo(resource: Resource, resources: readonly Resource[]): InverseRelation[] {
  return resources.flatMap((from) =>
    referenceLeaves(from)
      .filter(({ field }) => field.to === resource.path)
      .map((leaf) => ({ from, leaf })),
  )
}

/** The resources that belong to each resource of this one: its sub-collections and singletons. */
export function ownedBy(resource: Resource, resources: readonly Resource[]): Resource[] {
  return resources.filter(({ owner }) => owner === resource)
}

/** The references of a resource under whose targets it is listed as well: /{to}/{id}/{path} (SPEC §2.5.1). */
export function nestedReferences(resource: Resource): InverseRelation['leaf'][] {
  return referenceLeaves(resource).filter(({ field }) => field.nested)
}

/** The column of the listed resources that says to which parent's list each belongs. */
export function listColumn(parent: Resource, listed: Resource): string {
  if (listed.owner === parent) return listed.parentField as string
  const leaf = referenceLeaves(listed).find(({ field }) => field.to === parent.path)
  if (!leaf) throw new TypeError(`${listed.path} are not listed within ${parent.path}`)
  return leaf.column
}

function referenceLeaves({ leaves }: Resource): InverseRelation['leaf'][] {
  return leaves.filter((leaf): leaf is InverseRelation['leaf'] => leaf.field.type === 'reference')
}
