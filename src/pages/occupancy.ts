import { camelCase, columnValue, graphNames } from '../graph/names.ts'
import { relationsOf } from '../model/relations.ts'
import type { Resource } from '../model/resource.ts'
import { promptField } from '../rest/forms/properties.ts'
import { label } from '../rest/nouns.ts'

/** The titles of a chart that compares lists with a capacity. */
export interface OccupancyChart {
  readonly title: string
  readonly list: string
  readonly capacity: string
}

/** The newest of a collection among which those with a capacity are shown. */
const COMPARED = 25

/** The chart of a resource whose definition has `occupancy`. */
export function occupancyChart({ occupancy }: Resource): OccupancyChart | undefined {
  if (!occupancy) return undefined
  const [list, capacity] = [label(occupancy.list), label(occupancy.capacity)]
  return { title: `${list} and ${capacity.toLowerCase()}`, list, capacity }
}

/** The newest resources as `occupancy`, each with the length of its list and the capacity of what it refers to. */
export function occupancyQuery(resource: Resource, resources: readonly Resource[]): string[] {
  const { occupancy, createdField, owner } = resource
  if (!occupancy || owner) return []
  const { page } = graphNames(resource)
  const { relation } = relationsOf(resource, resources).find(
    ({ leaf }) => leaf.name === occupancy.reference,
  ) as { relation: string }
  const sort = `[{ field: ${columnValue(createdField)}, direction: DESC }]`
  return [
    `occupancy: ${page}(limit: ${COMPARED}, sort: ${sort}) { items { id title: ${camelCase(promptField(resource))} ` +
      `list: ${camelCase(occupancy.list)}(limit: 1) { totalCount } ` +
      `reference: ${camelCase(relation)} { capacity: ${camelCase(occupancy.capacity)} } } }`,
  ]
}
