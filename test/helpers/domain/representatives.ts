import type { Resource } from '../../../src/model/definition/resource.ts'
import { resources } from './domain.ts'

/**
 * What a claim about every resource can depend on: the shape of the resource, and the kinds of its fields. A claim that
 * holds for one resource with each of these holds for all, because all code is derived from the definition.
 */
function traits({ kind, replaceable, leaves }: Resource): string[] {
  const ofFields = leaves.flatMap(({ field, path }) => [
    field.type,
    ...(path.length > 1 ? ['member of a group'] : []),
    ...(field.required && !field.readOnly ? [`required ${field.type}`] : []),
    ...(field.unique ? [field.unique === true ? 'unique' : 'unique within other fields'] : []),
  ])
  const shape = replaceable ? kind : `append-only ${kind}`
  return [`shape: ${shape}`, ...ofFields]
}

/** The fewest resources that have every trait between them, as a greedy choice finds them, in the domain's order. */
function choose(): readonly Resource[] {
  const missing = new Set(resources.flatMap(traits))
  const chosen: Resource[] = []
  const gain = (resource: Resource) => new Set(traits(resource).filter((trait) => missing.has(trait))).size
  while (missing.size > 0) {
    const best = resources.reduce((one, other) => (gain(other) > gain(one) ? other : one))
    for (const trait of traits(best)) missing.delete(trait)
    chosen.push(best)
  }
  return resources.filter((resource) => chosen.includes(resource))
}

/** Resources for claims that hold for every resource: one of each shape, with each kind of field between them. */
export const representatives = choose()
