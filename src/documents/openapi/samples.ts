import { listColumn, relationsOf } from '../../model/relations.ts'
import type { Resource, Values } from '../../model/resource.ts'
import { valuesIn } from '../../model/versions/views.ts'

/** A resource of the example catalogue. It comes after those it refers to. */
export interface Seed extends Values {
  readonly collection: string
  readonly parent?: string
  readonly id?: string
}

export interface Sample {
  readonly id: string
  readonly parentId: string | undefined
  readonly body: Values
}

/** The first resource of a collection in the catalogue, preferably one that can be deleted. */
export function sampleOf(
  resource: Resource,
  resources: readonly Resource[],
  seeds: readonly Seed[],
): Sample | undefined {
  const own = seeds.filter(({ collection }) => collection === resource.path)
  const references = resources
    .filter((from) => relationsOf(from, resources).some(({ target }) => target === resource))
    .flatMap((from) => referencesIn(from, resource, seeds))
  const inUse = new Set(references.map((reference) => reference.toLowerCase()))
  // A reference may be by name.
  const isInUse = (seed: Seed) =>
    Object.values(seed).some((value) => typeof value === 'string' && inUse.has(value.toLowerCase()))
  const seed = own.find((one) => !isInUse(one)) ?? own[0]
  if (!seed) return undefined
  const { collection, parent: parentId, id = parentId as string, ...body } = seed
  // The catalogue has the fields of all versions of the API.
  return { id, parentId, body: valuesIn(resource.fields, body) }
}

/** A parent in the catalogue that other resources refer to. */
export function parentOf(parent: Resource, listed: Resource, seeds: readonly Seed[]): string | undefined {
  const ids = new Set(seeds.flatMap(({ collection, id }) => (collection === parent.path && id ? [id] : [])))
  return referencesIn(listed, parent, seeds).find((id) => ids.has(id))
}

/** The values of the fields that refer to a resource by identifier or by name. */
function referencesIn(from: Resource, target: Resource, seeds: readonly Seed[]): string[] {
  const column = listColumn(target, from)
  const names = from.shownLeaves.flatMap(({ name, column: own, field }) =>
    own === column || ('alsoMatches' in field && field.alsoMatches === column) ? [name] : [],
  )
  const values = seeds
    .filter(({ collection }) => collection === from.path)
    .flatMap((seed) => names.map((name) => seed[name]))
  return values.filter((value) => typeof value === 'string')
}
