import type { ReferenceField } from './fields.ts'
import type { Leaf, Resource } from './resource.ts'

/** A reference from one resource to another. */
interface Relation {
  /** The link relation (SPEC §2.5.2). */
  readonly relation: string
  readonly leaf: Leaf & { readonly field: ReferenceField }
  readonly target: Resource
}

/** A reference, with the resource that holds it instead of its target. */
interface InverseRelation {
  readonly from: Resource
  readonly leaf: Leaf & { readonly field: ReferenceField }
}

/** The references of a resource. */
export function relationsOf(resource: Resource, resources: readonly Resource[]): Relation[] {
  return referenceLeaves(resource).map((leaf) => ({
    relation: leaf.field.relation,
    leaf,
    target: resources.find(({ path }) => path === leaf.field.to) as Resource,
  }))
}

/** The references to a resource. */
export function referencesTo(resource: Resource, resources: readonly Resource[]): InverseRelation[] {
  return resources.flatMap((from) =>
    referenceLeaves(from)
      .filter(({ field }) => field.to === resource.path)
      .map((leaf) => ({ from, leaf })),
  )
}

/** The sub-collections and singletons of a resource. */
export function ownedBy(resource: Resource, resources: readonly Resource[]): Resource[] {
  return resources.filter(({ owner }) => owner === resource)
}

/** The references whose targets also list the resource, at /{to}/{id}/{path} (SPEC §2.5.1). */
export function nestedReferences(resource: Resource): InverseRelation['leaf'][] {
  return referenceLeaves(resource).filter(({ field }) => field.nested)
}

/** The column of the listed resources that holds the identifier of the parent. */
export function listColumn(parent: Resource, listed: Resource): string {
  if (listed.owner === parent) return listed.parentField as string
  const leaf = referenceLeaves(listed).find(({ field }) => field.to === parent.path)
  if (!leaf) throw new TypeError(`${listed.path} are not listed within ${parent.path}`)
  return leaf.column
}

function referenceLeaves({ leaves }: Resource): InverseRelation['leaf'][] {
  return leaves.filter((leaf): leaf is InverseRelation['leaf'] => leaf.field.type === 'reference')
}
