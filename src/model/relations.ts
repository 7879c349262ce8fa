import type { ReferenceField } from './fields.ts'
import type { Leaf, Resource } from './resource.ts'

interface Relation {
  readonly from: Resource
  /** The link relation (SPEC §2.5.2). */
  readonly relation: string
  readonly leaf: Leaf & { readonly field: ReferenceField }
  readonly target: Resource
}

export function relationsOf(from: Resource, resources: readonly Resource[]): Relation[] {
  return referenceLeaves(from).flatMap((leaf) => {
    const target = resources.find(({ path }) => path === leaf.field.to)
    return target ? [{ from, relation: leaf.field.relation, leaf, target }] : []
  })
}

export function referencesTo(target: Resource, resources: readonly Resource[]): Relation[] {
  return resources.flatMap((from) => relationsOf(from, [target]))
}

export function ownedBy(resource: Resource, resources: readonly Resource[]): Resource[] {
  return resources.filter(({ owner }) => owner === resource)
}

/** The references whose targets also list the resource, at /{to}/{id}/{path} (SPEC §2.5.1). */
export function nestedReferences(resource: Resource): Relation['leaf'][] {
  return referenceLeaves(resource).filter(({ field }) => field.nested)
}

/** The column of the listed resources that holds the identifier of the parent. */
export function listColumn(parent: Resource, listed: Resource): string {
  if (listed.owner === parent) return listed.parentField as string
  const leaf = referenceLeaves(listed).find(({ field }) => field.to === parent.path)
  if (!leaf) throw new TypeError(`${listed.path} are not listed within ${parent.path}`)
  return leaf.column
}

function referenceLeaves({ leaves }: Resource): Relation['leaf'][] {
  return leaves.filter((leaf): leaf is Relation['leaf'] => leaf.field.type === 'reference')
}
