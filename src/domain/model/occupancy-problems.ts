import { measurable } from './query/aggregate.ts'
import { ownedBy, referencesTo, relationsOf } from './relations.ts'
import type { Resource } from './resource.ts'

/** What the `occupancy` of a resource names and the domain does not have, each as one line. */
export function occupancyProblems(resource: Resource, resources: readonly Resource[]): string[] {
  const { path, occupancy } = resource
  if (!occupancy) return []
  const { list, reference, capacity } = occupancy
  const lists = [
    ...ownedBy(resource, resources),
    ...referencesTo(resource, resources).map(({ from }) => from),
  ]
  const isListed = lists.some((one) => one.path === list && one.listed)
  const target = relationsOf(resource, resources).find(({ leaf }) => leaf.name === reference)?.target
  const isNumber =
    target && measurable(target).some(({ name, path: { length } }) => name === capacity && length === 1)
  return [
    ...(isListed ? [] : [`${path}: occupancy has the list ${list}, which is no list of ${path}`]),
    ...(target
      ? []
      : [`${path}: occupancy has the reference ${reference}, which is no reference of ${path}`]),
    ...(target && !isNumber
      ? [`${path}: occupancy has the capacity ${capacity}, which is no numeric field of ${target.path}`]
      : []),
  ]
}
