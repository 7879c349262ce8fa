import { camelCase, columnValue, graphNames, hasDisplayName } from '../graph/names.ts'
import { kindOf } from '../model/definition/fields.ts'
import { plural } from '../model/definition/labels.ts'
import { targetOf } from '../model/definition/relations.ts'
import type { Resource } from '../model/definition/resource.ts'
import { groupable, measurable } from '../model/query/aggregate.ts'

const MAXIMUM_BARS = 12
const MAXIMUM_MONTHS = 120

/** Resources of each collection among which are those that changed last. */
const LATEST = 5

/** In a histogram. */
const RANGES = 8

/**
 * What the landing page shows of each collection: GraphQL operations for what changed last, additions by month, fields with
 * few values, and numbers, and how to draw their results.
 */
export function chartsOf(resources: readonly Resource[]) {
  return resources.filter(({ listed }) => listed).map((resource) => collectionCharts(resource, resources))
}

function collectionCharts(resource: Resource, resources: readonly Resource[]) {
  const { aggregate, page } = graphNames(resource)
  const grouped = groupable(resource.shownLeaves).filter(({ field }) => kindOf(field).hasFewValues)
  const numbers = measurable(resource).filter(({ field }) => !('hidden' in field))
  const created = columnValue(resource.createdField)
  const members = numbers.map(({ column }) => camelCase(column)).join(' ')
  const measures = ['minimum', 'average', 'maximum'].map((measure) => `${measure} { ${members} }`).join(' ')
  const queries = [
    ...(numbers.length > 0 ? [`measures: ${aggregate} { groups { ${measures} } }`] : []),
    `months: ${aggregate}(groupByTime: { field: ${created}, unit: MONTH }, order: KEY, limit: ${MAXIMUM_MONTHS}) ` +
      '{ groups { time count } }',
    ...grouped.map(
      ({ column }, index) =>
        `chart${index}: ${aggregate}(groupBy: [${columnValue(column)}], limit: ${MAXIMUM_BARS}) ` +
        `{ groups { key { ${camelCase(column)} } count } }`,
    ),
  ]
  const bounds = numbers.map((_, index) => `$bounds${index}: [Float!]!`)
  const histograms = numbers.map(
    ({ column }, index) =>
      `histogram${index}: ${aggregate}(groupByRange: { field: ${columnValue(column)}, bounds: $bounds${index} }) ` +
      '{ groups { range count } }',
  )
  return {
    title: plural(resource),
    /** Relative to the entry document. Undefined for owned resources. */
    path: resource.owner ? undefined : resource.path,
    /** The path of the collection that it belongs to: its own, or that of its first owner. */
    group: firstOwner(resource).path,
    /** The GraphQL field that counts the collection, in one group. */
    aggregate,
    page,
    /** What changed last. Undefined for owned resources, whose addresses have several identifiers. */
    latest: resource.owner
      ? undefined
      : `${page}(limit: ${LATEST}, sort: [{ field: LAST_UPDATED, direction: DESC }]) { items { id ` +
        `name: ${hasDisplayName(resource) ? 'displayName' : 'id'} time: lastUpdated by: changedBy } }`,
    /** Everything else except the histograms. */
    query: `{ ${queries.join(' ')} }`,
    charts: [
      { title: 'Additions by month', name: 'months' },
      ...grouped.map((leaf, index) => ({
        title: leaf.label,
        name: `chart${index}`,
        /** The member of a group's key. A chart over time has none. */
        member: camelCase(leaf.column),
        /** The collection that has the names, if the values are identifiers. */
        target: targetOf(resource, leaf, resources),
      })),
    ],
    numbers: numbers.map(({ label, column, field }) => ({
      title: label,
      member: camelCase(column),
      isInteger: kindOf(field).schema(field)['type'] === 'integer',
    })),
    /** Counts the ranges of each number: `histogram0` has those between `$bounds0`. */
    ranges: { query: `query (${bounds.join(', ')}) { ${histograms.join(' ')} }`, maximum: RANGES },
  }
}

function firstOwner(resource: Resource): Resource {
  return resource.owner ? firstOwner(resource.owner) : resource
}
