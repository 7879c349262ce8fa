import { kindOf } from '../../model/definition/fields.ts'
import type { Leaf, Resource } from '../../model/definition/resource.ts'
import { DomainError, errorAt } from '../../model/errors.ts'
import {
  type AggregateRequest,
  forMeasures,
  type Group,
  groupable,
  MEASURES,
  type Measure,
  measurable,
  measuredBy,
  measurePasses,
  TIME_UNITS,
  timed,
} from '../../model/query/aggregate.ts'
import type { Columns } from '../../model/rows/row.ts'
import { selectedFields } from '../execution/selection.ts'
import { camelCase, graphNames, pascalCase } from '../names.ts'
import { type FilterArguments, filterArguments, matchingRows } from './filters.ts'
import { columnEnumeration, refuseOutOfBounds } from './lists.ts'
import { relatedFields, toOneRelations } from './related.ts'
import { fieldsOf, memberOf, type SchemaField, type SchemaPart, typeOf } from './sdl.ts'

export const GROUP_ORDER: SchemaPart = {
  typeDefs: `"The order of the groups of an aggregate."
    enum GroupOrder {
      "Largest groups first." COUNT
      "By the key of the groups, ascending." KEY
    }`,
  resolvers: { GroupOrder: { COUNT: 'count', KEY: 'key' } },
}

export const TIME_UNIT: SchemaPart = {
  typeDefs: `"A period of UTC; a week begins on Monday."
    enum TimeUnit { ${TIME_UNITS.map((unit) => unit.toUpperCase()).join(' ')} }`,
  resolvers: { TimeUnit: Object.fromEntries(TIME_UNITS.map((unit) => [unit.toUpperCase(), unit])) },
}

const MAXIMUM_BOUNDS = 101

const RANGE =
  '"Index of the range, from 0. Null for a number that is unset or beyond the bounds, and if not grouped by range." range: Int'

export function aggregateTypes(resource: Resource, resources: readonly Resource[]): (SchemaPart | string)[] {
  const { path } = resource
  const names = graphNames(resource)
  const keys = groupable(resource.leaves)
  const relations = toOneRelations(resource, resources).filter((one) =>
    keys.some(({ column }) => column === one.column),
  )
  const numbers = measurable(resource)
  const measures = MEASURES.filter((measure) => measuredBy(measure, resource).length > 0)
  const typeOfLeaf = ({ column, field }: Leaf) => typeOf(resource, column, field)
  const typeOfNumber = (leaf: Leaf) => (kindOf(leaf.field).isExact ? typeOfLeaf(leaf) : 'Float')
  const type = (name: string, description: string, fields: readonly SchemaField[]) =>
    fields.length > 0 ? [fieldsOf(name, `"${description}" type ${name}`, fields)] : []
  return [
    columnEnumeration(names.groupField, `Fields to group ${path} by.`, keys),
    columnEnumeration(names.timeField, `Timestamps of ${path}.`, timed(resource.leaves)),
    ...(numbers.length > 0
      ? [
          columnEnumeration(names.numberField, `Numbers of ${path}.`, numbers),
          `"Ranges to group ${path} by."
          input ${names.rangeGroup} {
            "The number." field: ${names.numberField}!
            "The start of each range, ascending, and the end of the last one, which it includes. 2 to ${MAXIMUM_BOUNDS} numbers."
            bounds: [Float!]!
          }`,
        ]
      : []),
    `"Periods to group ${path} by."
      input ${names.timeGroup} {
        "The timestamp." field: ${names.timeField}!
        "The length of a period." unit: TimeUnit!
      }
      "The groups of ${path}."
      type ${names.aggregateType} {
        "The groups, up to the limit." groups: [${names.group}!]!
        "Whether there are more groups than the limit." hasMore: Boolean!
      }`,
    ...type(
      names.groupKey,
      `The common values of a group of ${path}. Only fields in groupBy, and what they refer to, are set.`,
      [...columnFields(keys, typeOfLeaf), ...relatedFields(resource, relations)],
    ),
    ...type(
      names.measures,
      `A number for each numeric field of ${path}. Null if no resource in the group has a value or, with an error, if the number is out of range.`,
      columnFields(numbers, typeOfNumber),
    ),
    ...type(
      names.distinctCounts,
      `The number of different values of each field of ${path}, without unset ones.`,
      columnFields(keys, () => 'Int!'),
    ),
    ...type(names.group, `A group of ${path} with equal values.`, [
      { sdl: `"The common values of the group." key: ${names.groupKey}!` },
      {
        sdl: '"Start of the period. Null for an unset timestamp, and if not grouped by time." time: DateTime',
      },
      ...(numbers.length > 0 ? [{ sdl: RANGE }] : []),
      { sdl: '"Number of resources in the group." count: Int!' },
      ...measures.map((measure) => measureField(resource, measure)),
    ]),
  ]
}

function columnFields(leaves: readonly Leaf[], type: (leaf: Leaf) => string): SchemaField[] {
  return leaves.map((leaf) => ({
    sdl: memberOf(leaf.column, leaf.field, type(leaf)),
    resolve: (values: Columns) => inRange(values[leaf.column]),
  }))
}

function measureField(resource: Resource, measure: Measure): SchemaField {
  const { measures, distinctCounts } = graphNames(resource)
  const isDistinct = measure === 'distinctCount'
  return {
    sdl: `"${isDistinct ? 'Number of different values' : pascalCase(measure)} of each field." ${measure}: ${isDistinct ? distinctCounts : measures}!`,
    resolve: (group: Group) => group.measures[measure],
    ...(measurePasses(measure) > 0 && { lists: resource }),
  }
}

const MAXIMUM_GROUPS = 1000

/** Without the argument `limit`. */
export const DEFAULT_GROUPS = 100

interface AggregateArguments extends FilterArguments {
  readonly groupBy?: AggregateRequest['groupBy'] | null
  readonly order?: AggregateRequest['order'] | null
  readonly limit?: number | null
  readonly groupByTime?: AggregateRequest['groupByTime'] | null
  readonly groupByRange?: AggregateRequest['groupByRange'] | null
}

export function aggregateQuery(resource: Resource): SchemaField {
  const { aggregate: name, aggregateType, groupField, timeGroup, rangeGroup } = graphNames(resource)
  const byRange =
    measurable(resource).length > 0
      ? `"Also groups by ranges of a number. Empty ranges are omitted." groupByRange: ${rangeGroup},`
      : ''
  return {
    sdl: `"Counts and measures ${resource.path}, as a whole or in groups."
      ${name}(
        ${filterArguments(resource)},
        "The fields to group by. Without any, there is one group." groupBy: [${groupField}!] = null,
        "Also groups by periods of time. Empty periods are omitted." groupByTime: ${timeGroup},
        ${byRange}
        "The order of the groups. Defaults to COUNT." order: GroupOrder = null,
        "Maximum number of groups, up to ${MAXIMUM_GROUPS}. Defaults to ${DEFAULT_GROUPS}." limit: Int = null
      ): ${aggregateType}`,
    lists: resource,
    resolve: async (_, args: AggregateArguments, { session }, info) => {
      const { groupByTime, groupByRange, order } = args
      const limit = args.limit ?? DEFAULT_GROUPS
      const listing = session.listing({ resource })
      refuseOutOfBounds('limit', limit, 1, MAXIMUM_GROUPS)
      if (groupByRange) refuseBounds(groupByRange.bounds)
      const measured = (measure: Measure) => {
        const fields = selectedFields(info, 'groups', measure)
        const columns = measuredBy(measure, resource).map(({ column }) => column)
        return columns.filter((column) => fields.has(camelCase(column)))
      }
      const request = {
        groupBy: [...new Set(args.groupBy ?? [])],
        groupByTime: groupByTime ?? undefined,
        groupByRange: groupByRange ?? undefined,
        measures: forMeasures(measured),
        order: order ?? 'count',
        limit: limit + 1,
      }
      const groups = await listing.groups(request, () => matchingRows(listing, args))
      return { groups: groups.slice(0, limit), hasMore: groups.length > limit }
    },
  }
}

/** @throws {DomainError} INVALID_QUERY_PARAMETER (400) */
function refuseBounds(bounds: readonly number[]): void {
  const ascend = bounds.every((bound, index) => index === 0 || bound >= (bounds[index - 1] as number))
  if (ascend && bounds.length >= 2 && bounds.length <= MAXIMUM_BOUNDS) return
  const message = `The bounds must be 2 to ${MAXIMUM_BOUNDS} numbers in ascending order.`
  throw errorAt('groupByRange.bounds', 'INVALID_RANGE', 'INVALID_QUERY_PARAMETER', message)
}

/** GraphQL turns a value that is an error into null, with the error at its path. */
function inRange(value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value
  return new DomainError('BUSINESS_RULE_VIOLATION', 'A measure of these numbers is out of range.')
}
