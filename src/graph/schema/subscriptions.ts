import { readableCollections } from '../../domain/feed/change-feed.ts'
import { lowerCaseOf } from '../../domain/feed/lower-case.ts'
import { errorAt } from '../../model/errors.ts'
import { matches } from '../../model/query/matches.ts'
import { relatedTargets } from '../../model/query/query.ts'
import type { Resource, Values } from '../../model/resource.ts'
import { requireScope } from '../execution/context.ts'
import { followChanges } from '../execution/follow-changes.ts'
import { graphNames, parentArgument } from '../names.ts'
import { toItem } from './changes.ts'
import { type FilterArguments, toFilter } from './filters.ts'
import type { SchemaField } from './sdl.ts'

interface SubscriptionArguments {
  readonly since?: string | null
}

const SINCE = '"A cursor, after which it begins. By default, it begins now." since: String'

export function changesSubscription(resources: readonly Resource[]): SchemaField {
  interface Arguments extends SubscriptionArguments {
    readonly collections?: readonly string[] | null
  }
  return {
    sdl: `"Changes of the collections that the caller may read, as they happen, in the order that all readers see."
      changes("Only of these." collections: [String!], ${SINCE}): RecordedChange!`,
    resolve: toItem,
    subscribe: (_, { collections, since }: Arguments, context) =>
      followChanges(context, readableCollections(resources, collections ?? undefined, context.caller), since),
  }
}

/** The changes of one resource after which it matches a filter. A deletion leaves nothing to match, so all are sent. */
export function resourceSubscription(resource: Resource): SchemaField {
  const { changed, filter: filterType } = graphNames(resource)
  const parent = parentArgument(resource)
  return {
    sdl: `"Changes of ${resource.path} as they happen, in the order that all readers see."
      ${changed}(
        ${parent ? `"Only those of this parent." ${parent}: ID,` : ''}
        "Only changes after which the resource matches this condition, and all deletions. It cannot have conditions on relations."
        filter: ${filterType}, ${SINCE}
      ): RecordedChange!`,
    resolve: toItem,
    subscribe: async (_, { filter, since, ...args }: SubscriptionArguments & FilterArguments, context) => {
      requireScope(context, resource, 'read')
      const condition = toFilter(resource, { filter: filter ?? null }, context)
      if (condition && relatedTargets(condition).length > 0) {
        const message = 'The filter of a subscription cannot have conditions on relations.'
        throw errorAt('filter', 'INVALID_VALUE', 'INVALID_QUERY_PARAMETER', message)
      }
      const { connections, domain } = context
      const lower = await connections.use(() => lowerCaseOf(domain.client))
      const parentId = parent ? ((args as Values)[parent] ?? undefined) : undefined
      return followChanges(context, [resource], since, ({ key, row }) => {
        if (parentId !== undefined && key.parentId !== parentId) return false
        return !row || !condition || matches(resource, condition, row, lower)
      })
    },
  }
}
