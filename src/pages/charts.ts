import { camelCase, columnValue, graphNames } from '../graph/names.ts'
import { kindOf } from '../model/fields.ts'
import { groupable, measurable } from '../model/query/aggregate.ts'
import type { Leaf, Resource } from '../model/resource.ts'
import { label } from '../rest/nouns.ts'

/** What the landing page shows of a collection: GraphQL operations, and how their results are drawn. */
export interface CollectionCharts {
  readonly title: string
  /** The path below the entry document; undefined for owned resources. */
  readonly path: string | undefined
  /** The operation that counts it: one group with a `count`, as `total`. */
  readonly count: string
  /** The operation for everything else except the histograms. */
  readonly query: string
  readonly charts: readonly Chart[]
  readonly numbers: readonly NumberField[]
  /** The operation that counts, as `range0` and so on, what matches the filters `$range0` and so on. */
  readonly ranges: { readonly query: string; readonly maximum: number }
}

interface Chart {
  readonly title: string
  readonly name: string
  /** The member of a group's key; undefined for a chart over time. */
  readonly member?: string
}

interface NumberField {
  readonly title: string
  readonly member: string
  readonly path: readonly string[]
  readonly isInteger: boolean
}

/** Groups in a chart; of months, the number of months. */
const MAXIMUM_BARS = 12
const MAXIMUM_MONTHS = 120

/** Bars of a histogram. Each is one scan, and a single scan costs up to a tenth of the limit of an operation. */
const RANGES = 8

/** The charts of each collection: additions by month, fields with few values, and numbers. */
export function chartsOf(resources: readonly Resource[]): CollectionCharts[] {
  return resources.filter(({ listed }) => listed).map(collectionCharts)
}

function collectionCharts(resource: Resource): CollectionCharts {
  const { aggregate, filter } = graphNames(resource)
  const grouped = groupable(resource.shownLeaves).filter(hasFewValues)
  const numbers = measurable(resource).filter(({ field }) => !('hidden' in field))
  const indexes = Array.from({ length: RANGES }, (_, index) => index)
  const variables = indexes.map((index) => `$range${index}: ${filter}!`)
  const ranges = indexes.map(
    (index) => `range${index}: ${aggregate}(filter: $range${index}) { groups { count } }`,
  )
  return {
    title: label(resource.path),
    path: resource.owner ? undefined : resource.path,
    count: `{ total: ${aggregate} { groups { count } } }`,
    query: `{ ${groupQueries(resource, grouped, numbers).join(' ')} }`,
    charts: [
      { title: 'Additions by month', name: 'months' },
      ...grouped.map(({ name, column }, index) => ({
        title: label(name),
        name: `chart${index}`,
        member: camelCase(column),
      })),
    ],
    numbers: numbers.map(({ name, column, path, field }) => ({
      title: label(name),
      member: camelCase(column),
      path: path.map(camelCase),
      isInteger: kindOf(field).schema(field)['type'] === 'integer',
    })),
    ranges: { query: `query (${variables.join(', ')}) { ${ranges.join(' ')} }`, maximum: RANGES },
  }
}

function groupQueries(resource: Resource, grouped: readonly Leaf[], numbers: readonly Leaf[]): string[] {
  const { aggregate } = graphNames(resource)
  const members = numbers.map(({ column }) => camelCase(column)).join(' ')
  const measures = ['minimum', 'average', 'maximum'].map((measure) => `${measure} { ${members} }`).join(' ')
  const distributions = grouped.map(
    ({ column }, index) =>
      `chart${index}: ${aggregate}(groupBy: [${columnValue(column)}], limit: ${MAXIMUM_BARS}) ` +
      `{ groups { key { ${camelCase(column)} } count } }`,
  )
  const created = columnValue(resource.createdField)
  return [
    ...(numbers.length > 0 ? [`measures: ${aggregate} { groups { ${measures} } }`] : []),
    `months: ${aggregate}(groupByTime: { field: ${created}, unit: MONTH }, order: KEY, limit: ${MAXIMUM_MONTHS}) ` +
      '{ groups { time count } }',
    ...distributions,
  ]
}

function hasFewValues({ field }: Leaf): boolean {
  return kindOf(field).hasFewValues === true
}
