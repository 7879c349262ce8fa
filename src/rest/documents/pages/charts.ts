import { groupable, measurable } from '../../../domain/model/query/aggregate.ts'
import type { Leaf, Resource } from '../../../domain/model/resource.ts'
import { camelCase, columnValue, graphNames } from '../../../graph/names.ts'
import { label } from '../../nouns.ts'

/** What the landing page shows of a collection: one GraphQL operation, and what is drawn of its result. */
export interface CollectionCharts {
  readonly title: string
  readonly query: string
  /** The field of the result with the total, and with the numbers. */
  readonly total: string
  readonly charts: readonly Chart[]
  readonly numbers: readonly { readonly title: string; readonly member: string }[]
}

interface Chart {
  readonly title: string
  /** The field of the result. */
  readonly name: string
  /** The member of a group's key; a chart over time has none. */
  readonly member?: string
}

/** Groups in a chart; of months, the number of months. */
const MAXIMUM_BARS = 12
const MAXIMUM_MONTHS = 120

/** The charts of each collection: additions by month, and the distribution of what has few values. */
export function chartsOf(resources: readonly Resource[]): CollectionCharts[] {
  return resources.filter(({ listed }) => listed).map(collectionCharts)
}

function collectionCharts(resource: Resource): CollectionCharts {
  const { aggregate } = graphNames(resource)
  const grouped = groupable(resource.shownLeaves).filter(hasFewValues)
  const numbers = measurable(resource).filter(({ field }) => !('hidden' in field))
  const members = numbers.map(({ column }) => camelCase(column)).join(' ')
  const measures = ['minimum', 'average', 'maximum'].map((measure) => `${measure} { ${members} }`).join(' ')
  const distributions = grouped.map(
    ({ column }, index) =>
      `chart${index}: ${aggregate}(groupBy: [${columnValue(column)}], limit: ${MAXIMUM_BARS}) ` +
      `{ groups { key { ${camelCase(column)} } count } }`,
  )
  const created = columnValue(resource.createdField)
  const query = [
    `total: ${aggregate} { groups { count ${numbers.length > 0 ? measures : ''} } }`,
    `months: ${aggregate}(groupByTime: { field: ${created}, unit: MONTH }, order: KEY, limit: ${MAXIMUM_MONTHS}) ` +
      '{ groups { time count } }',
    ...distributions,
  ]
  return {
    title: label(resource.path),
    query: `{ ${query.join(' ')} }`,
    total: 'total',
    charts: [
      { title: 'Additions by month', name: 'months' },
      ...grouped.map(({ name, column }, index) => ({
        title: label(name),
        name: `chart${index}`,
        member: camelCase(column),
      })),
    ],
    numbers: numbers.map(({ name, column }) => ({ title: label(name), member: camelCase(column) })),
  }
}

function hasFewValues({ field }: Leaf): boolean {
  return ['enumeration', 'boolean', 'reference'].includes(field.type)
}
