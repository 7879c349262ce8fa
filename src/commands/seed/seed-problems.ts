import { type Seed, seedEntry } from '../../documents/openapi/seeds.ts'
import { isIdentifier } from '../../model/identifiers.ts'
import type { Resource } from '../../model/resource.ts'
import { inspectResource } from '../../model/validate.ts'
import { isObject } from '../../model/values.ts'

/** The problems of the entries of a catalogue, one line for each, with the number of the entry and the field. */
export function seedProblems(seeds: readonly unknown[], resources: readonly Resource[]): string[] {
  const known = new Set<string>()
  return seeds.flatMap((seed, index) => {
    const resource = isObject(seed) && resources.find(({ path }) => path === seed['collection'])
    if (!resource) {
      const collections = resources.map(({ path }) => path).join(', ')
      return [`entry ${index + 1}: it must be an object whose collection is one of ${collections}`]
    }
    const { problems, key } = problemsOf(seed as Seed, resource)
    if (problems.length === 0 && known.has(key)) problems.push('an entry before it has the same id')
    known.add(key)
    return problems.map((problem) => `${placeOf(seed as Seed, index)}: ${problem}`)
  })
}

/** `entry 3 (moons/luna)` */
export function placeOf({ collection, id }: Seed, index: number): string {
  return `entry ${index + 1} (${collection}${typeof id === 'string' ? `/${id}` : ''})`
}

function problemsOf(seed: Seed, resource: Resource) {
  const { parentField, kind } = resource
  const { parents, parentId, id, body } = seedEntry(seed, resource)
  const problems: string[] = []
  if (parents.size > 1) problems.push(`parent and ${parentField} are different`)
  else if (parentField && !isKey(parentId)) problems.push(`${parentField} must be the id of its parent`)
  if (kind === 'singleton' ? seed['id'] !== undefined && id !== parentId : !isKey(id)) {
    problems.push(
      kind === 'singleton'
        ? 'its id must be that of its parent'
        : 'it needs an id, of 1 to 64 letters, digits, and . _ ~ -',
    )
  }
  problems.push(...inspectResource(resource, body).details.map(({ message }) => message))
  return { problems, key: `${resource.path}/${parentId ?? ''}/${id}` }
}

function isKey(value: unknown): boolean {
  return typeof value === 'string' && isIdentifier(value)
}
