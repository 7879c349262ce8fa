import type { Resource, Values } from '../../model/definition/resource.ts'

/** A resource of the example catalogue. It comes after those it refers to. */
export interface Seed extends Values {
  readonly collection: string
}

/**
 * The key and the body of an entry. It names its parent as `parent`, or as a representation does (`planet_id`): `parents`
 * has several values if it does both, and differently. The identifier of a singleton is that of its parent.
 */
export function seedEntry({ collection, id, ...members }: Seed, { parentField, kind, fields }: Resource) {
  const names = parentField === undefined ? [] : [parentField, ...('parent' in fields ? [] : ['parent'])]
  const parents = new Set(names.map((name) => members[name]).filter((value) => value !== undefined))
  const [parentId] = parents
  const body = Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))
  return { parents, parentId, id: id ?? (kind === 'singleton' ? parentId : undefined), body }
}
