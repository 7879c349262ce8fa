import type { GraphQLFieldResolver } from 'graphql'
import {
  type AggregateRequest,
  type Group,
  groupable,
  type Measure,
  measurable,
  TIME_UNITS,
  timed,
} from '../../domain/model/query/aggregate.ts'
import type { Leaf, Resource, Values } from '../../domain/model/resource.ts'
import { aggregate } from '../../domain/read.ts'
import { type GraphContext, requireScope } from '../execution/context.ts'
import { selectedFields } from '../execution/selection.ts'
import { columnsInCamelCase, graphNames } from '../names.ts'
import { toFilter } from './filters.ts'
import { columnEnumeration, refuseOutOfBounds } from './lists.ts'
import { memberOf, type SchemaPart, typeOf } from './sdl.ts'

/** The orders of groups. Their internal values are those of the domain. */
export const GROUP_ORDER: SchemaPart = {
  typeDefs: `"The order of the groups of an aggregate."
    enum GroupOrder {
      "The largest groups first." COUNT
      "By what the groups have in common, smallest first." KEY
    }`,
  resolvers: { GroupOrder: { COUNT: 'count', KEY: 'key' } },
}

/** The periods to group by. Their internal values are those of the domain. */
export const TIME_UNIT: SchemaPart = {
  typeDefs: `"A period of UTC; a week begins on Monday."
    enum TimeUnit { ${TIME_UNITS.map((unit) => unit.toUpperCase()).join(' ')} }`,
  resolvers: { TimeUnit: Object.fromEntries(TIME_UNITS.map((unit) => [unit.toUpperCase(), unit])) },
}

const MEASURES: Readonly<Record<Measure, string>> = {
  minimum: 'The smallest of each.',
  maximum: 'The largest of each.',
  average: 'The arithmetic mean of each.',
  sum: 'The sum of each.',
}

/** The input and output types of the aggregates of a resource. */
export function aggregateTypes(resource: Resource): (SchemaPart | string)[] {
  const names = graphNames(resource)
  const keys = groupable(resource.leaves)
  const members = (leaves: readonly Leaf[], type: (leaf: Leaf) => string) =>
    leaves.map((leaf) => memberOf(leaf.column, leaf.field, type(leaf))).join('\n')
  const measured = measurable(resource)
  const measures = Object.entries(MEASURES).map(
    ([name, description]) => `"${description}" ${name}: ${names.measures}!`,
  )
  const measureType = `"A number for each field of ${resource.path} that holds one; null where none of a group has a value."
    type ${names.measures} { ${members(measured, () => 'Float')} }`
  return [
    columnEnumeration(names.groupField, `What ${resource.path} can be grouped by.`, keys),
    columnEnumeration(names.timeField, `The timestamps of ${resource.path}.`, timed(resource.leaves)),
    `"Periods that make groups of ${resource.path}."
      input ${names.timeGroup} {
        "The timestamp." field: ${names.timeField}!
        "The length of a period." unit: TimeUnit!
      }`,
    `"The values that a group of ${resource.path} has in common; set only where it was grouped by them."
      type ${names.groupKey} { ${members(keys, ({ column, field }) => typeOf(resource, column, field))} }
      ${measured.length > 0 ? measureType : ''}
      "Those of ${resource.path} that have the same values in the fields they are grouped by."
      type ${names.group} {
        "What they have in common." key: ${names.groupKey}!
        "The beginning of their period; null for those without the timestamp, or if not grouped by time." time: DateTime
        "How many they are." count: Int!
        ${measured.length > 0 ? measures.join('\n') : ''}
      }
      "The groups of ${resource.path}."
      type ${names.aggregateType} {
        "The groups, as many as the limit lets through." groups: [${names.group}!]!
        "Whether there are more groups than the limit lets through." hasMore: Boolean!
      }`,
  ]
}

/** The maximum number of groups in a result. */
const MAXIMUM_GROUPS = 1000

/** The arguments of every aggregate. */
interface AggregateArguments {
  readonly filter?: Values | null
  readonly groupBy: AggregateRequest['groupBy']
  readonly groupByTime?: AggregateRequest['groupByTime'] | null
  readonly order: AggregateRequest['order']
  readonly limit: number
}

/** The same arguments as SDL. */
export function aggregateArguments(resource: Resource): string {
  const { filter, groupField, timeGroup } = graphNames(resource)
  return `"Only those for which this holds." filter: ${filter},
    "The fields that make the groups; without any, all is one group." groupBy: [${groupField}!]! = [],
    "The periods that make the groups, beside the fields; empty ones are omitted." groupByTime: ${timeGroup},
    "The order of the groups." order: GroupOrder! = COUNT,
    "How many groups at most, up to ${MAXIMUM_GROUPS}." limit: Int! = 100`
}

/** The resolver of a collection's aggregates. */
export function aggregateResolver(
  resource: Resource,
): GraphQLFieldResolver<unknown, GraphContext, AggregateArguments> {
  return async (_, { filter, groupBy, groupByTime, order, limit }, context, info) => {
    requireScope(context, resource, 'read')
    refuseOutOfBounds('limit', limit, 1, MAXIMUM_GROUPS)
    const fields = selectedFields(info, 'groups')
    const measures = (Object.keys(MEASURES) as Measure[]).filter((measure) => fields.has(measure))
    // One more than requested shows whether there are more.
    const request: AggregateRequest = {
      filter: toFilter(resource, filter),
      groupBy,
      groupByTime: groupByTime ?? undefined,
      measures: new Set(measures),
      order,
      limit: limit + 1,
    }
    const groups = await context.scan(resource, true, () => aggregate(context.reader, resource, request))
    return { groups: groups.slice(0, limit).map(toGraph), hasMore: groups.length > limit }
  }
}

function toGraph({ key, time, count, measures }: Group) {
  const measured = Object.entries(measures).map(([name, columns]) => [name, columnsInCamelCase(columns)])
  return { key: columnsInCamelCase(key), time, count, ...Object.fromEntries(measured) }
}
