import type { GraphQLFieldResolver } from 'graphql'
import type { AggregateRequest, Group, Measure } from '../../domain/model/aggregate.ts'
import type { Resource } from '../../domain/model/resource.ts'
import { aggregate } from '../../domain/read.ts'
import { admit, type GraphContext } from '../execution/context.ts'
import { selectedFields } from '../execution/selection.ts'
import { camelCase } from '../names.ts'
import { MAXIMUM_GROUPS } from './aggregate-types.ts'
import type { AggregateArguments } from './arguments.ts'
import { toFilter } from './filters.ts'
import { refuseOutOfBounds } from './list-requests.ts'

const MEASURES: readonly Measure[] = ['minimum', 'maximum', 'average', 'sum']

/** The resolver of a collection's aggregates. */
export function aggregateResolver(
  resource: Resource,
): GraphQLFieldResolver<unknown, GraphContext, AggregateArguments> {
  return async (_, { filter, groupBy, order, limit }, context, info) => {
    admit(context, resource, 'read')
    refuseOutOfBounds('limit', limit, 1, MAXIMUM_GROUPS)
    const fields = selectedFields(info, 'groups')
    const request: AggregateRequest = {
      filter: toFilter(resource, filter),
      groupBy,
      measures: new Set(MEASURES.filter((measure) => fields.has(measure))),
      order: order === 'COUNT' ? 'count' : 'key',
      // One more than is wanted tells whether there are more.
      limit: limit + 1,
    }
    const groups = await context.scan(resource, true, () => aggregate(context.reader, resource, request))
    return { groups: groups.slice(0, limit).map(toGraph), hasMore: groups.length > limit }
  }
}

function toGraph({ key, count, measures }: Group) {
  const measured = Object.entries(measures).map(([name, columns]) => [name, inCamelCase(columns)])
  return { key: inCamelCase(key), count, ...Object.fromEntries(measured) }
}

function inCamelCase(columns: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.entries(columns).map(([column, value]) => [camelCase(column), value]))
}
