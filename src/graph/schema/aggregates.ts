import type { GraphQLFieldResolver } from 'graphql'
import { aggregate } from '../../domain/read.ts'
import { DomainError } from '../../model/errors.ts'
import { kindOf } from '../../model/fields.ts'
import {
  type AggregateRequest,
  forMeasures,
  type Group,
  groupable,
  MEASURES,
  type Measure,
  measurable,
  TIME_UNITS,
  timed,
} from '../../model/query/aggregate.ts'
import { filterPasses } from '../../model/query/list.ts'
import type { Leaf, Resource, Values } from '../../model/resource.ts'
import type { Columns } from '../../model/row.ts'
import { type GraphContext, requireScope } from '../execution/context.ts'
import { selectedFields } from '../execution/selection.ts'
import { camelCase, graphNames, pascalCase } from '../names.ts'
import { type FilterArguments, filterArguments, toFilter } from './filters.ts'
import { columnEnumeration, refuseOutOfBounds } from './lists.ts'
import { memberOf, type SchemaPart, typeOf } from './sdl.ts'

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

export function aggregateTypes(resource: Resource): (SchemaPart | string)[] {
  const names = graphNames(resource)
  const keys = groupable(resource.leaves)
  const members = (leaves: readonly Leaf[], type: (leaf: Leaf) => string) =>
    leaves.map((leaf) => memberOf(leaf.column, leaf.field, type(leaf))).join('\n')
  const measured = measurable(resource)
  const measures = MEASURES.map((name) => `"${pascalCase(name)} of each field." ${name}: ${names.measures}!`)
  const measureType = `"A number for each numeric field of ${resource.path}. Null if no resource of the group has a value, and, with an error, if the number is out of range."
    type ${names.measures} { ${members(measured, ({ column, field }) => (kindOf(field).isExact ? typeOf(resource, column, field) : 'Float'))} }`
  return [
    columnEnumeration(names.groupField, `Fields to group ${resource.path} by.`, keys),
    columnEnumeration(names.timeField, `Timestamps of ${resource.path}.`, timed(resource.leaves)),
    `"Periods to group ${resource.path} by."
      input ${names.timeGroup} {
        "The timestamp." field: ${names.timeField}!
        "The length of a period." unit: TimeUnit!
      }`,
    `"The common values of a group of ${resource.path}. Only fields in groupBy are set."
      type ${names.groupKey} { ${members(keys, ({ column, field }) => typeOf(resource, column, field))} }
      ${measured.length > 0 ? measureType : ''}
      "A group of ${resource.path} with equal values."
      type ${names.group} {
        "The common values of the group." key: ${names.groupKey}!
        "Start of the period. Null for resources without the timestamp, and if not grouped by time." time: DateTime
        "Number of resources in the group." count: Int!
        ${measured.length > 0 ? measures.join('\n') : ''}
      }
      "The groups of ${resource.path}."
      type ${names.aggregateType} {
        "The groups, up to the limit." groups: [${names.group}!]!
        "Whether there are more groups than the limit." hasMore: Boolean!
      }`,
  ]
}

const MAXIMUM_GROUPS = 1000

interface AggregateArguments extends FilterArguments {
  readonly groupBy: AggregateRequest['groupBy']
  readonly groupByTime?: AggregateRequest['groupByTime'] | null
  readonly order: AggregateRequest['order']
  readonly limit: number
}

export function aggregateArguments(resource: Resource): string {
  const { groupField, timeGroup } = graphNames(resource)
  return `${filterArguments(resource)},
    "The fields to group by. Without any, there is one group." groupBy: [${groupField}!]! = [],
    "Also groups by periods of time. Empty periods are omitted." groupByTime: ${timeGroup},
    "The order of the groups." order: GroupOrder! = COUNT,
    "Maximum number of groups, up to ${MAXIMUM_GROUPS}." limit: Int! = 100`
}

export function aggregateResolver(
  resource: Resource,
): GraphQLFieldResolver<unknown, GraphContext, AggregateArguments> {
  const columns = measurable(resource).map(({ column }) => column)
  return async (_, { groupBy, groupByTime, order, limit, ...selection }, context, info) => {
    requireScope(context, resource, 'read')
    refuseOutOfBounds('limit', limit, 1, MAXIMUM_GROUPS)
    const measured = (measure: Measure) => {
      const fields = selectedFields(info, 'groups', measure)
      return columns.filter((column) => fields.has(camelCase(column)))
    }
    // One more than requested shows whether there are more.
    const request: AggregateRequest = {
      filter: toFilter(resource, selection),
      groupBy,
      groupByTime: groupByTime ?? undefined,
      measures: forMeasures(measured),
      order,
      limit: limit + 1,
    }
    const passes = filterPasses(request.filter)
    const { reader } = context.loaders
    const groups = await context.connections.read(
      { resource, passes, run: () => aggregate(reader, resource, request) },
      { client: reader, key: `${resource.path} groups ${JSON.stringify(request)}` },
    )
    return { groups: groups.slice(0, limit).map(toGraph), hasMore: groups.length > limit }
  }
}

function toGraph({ key, time, count, measures }: Group) {
  return { key: inCamelCase(key), time, count, ...forMeasures((measure) => inCamelCase(measures[measure])) }
}

function inCamelCase(columns: Columns): Values {
  const values = Object.entries(columns)
  return Object.fromEntries(values.map(([column, value]) => [camelCase(column), inRange(value)]))
}

/** An error as a value is null with that error at its path. */
function inRange(value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value
  return new DomainError('BUSINESS_RULE_VIOLATION', 'A sum or an average of these numbers is out of range.')
}
