import { lowerCaseOf } from '../../../domain/lower-case.ts'
import { type Connections, type GraphContext, requireScope } from '../../../graph/execution/context.ts'
import { graphNames, parentArgument } from '../../../graph/names.ts'
import { type FilterArguments, toFilter } from '../../../graph/schema/filters.ts'
import { pageSize } from '../../../graph/schema/lists.ts'
import { POSITIONED } from '../../../graph/schema/pages.ts'
import { fieldsOf, type SchemaField, type SchemaPart } from '../../../graph/schema/sdl.ts'
import type { Caller } from '../../../model/access/caller.ts'
import type { Resource, Values } from '../../../model/definition/resource.ts'
import { viewFor } from '../../../model/definition/views.ts'
import { DomainError, errorAt } from '../../../model/errors.ts'
import { matcherOf } from '../../../model/query/matches.ts'
import { DEFAULT_PAGE_SIZE, relatedTargets } from '../../../model/query/query.ts'
import { requestKey } from '../../../model/query/request-key.ts'
import { jsonValues } from '../../../model/rows/columns.ts'
import { followFeed } from '../feed/follow.ts'
import { toCursor } from '../feed/position.ts'
import {
  type FeedPage,
  type FeedRequest,
  NOW,
  readableCollections,
  readFeed,
  type Source,
} from '../feed/read-feed.ts'
import { readableKey } from '../feed/readable-changes.ts'
import type { RecordedChange } from '../feed/recorded-change.ts'
import type { FeedWatch } from '../feed/watch.ts'

export const CHANGES = /* GraphQL */ `
"What happened to a resource."
enum ChangeEvent { CREATED CHANGED DELETED }

"A change to a resource, by a request or directly in the database."
type RecordedChange {
  "Position after this change." cursor: String!
  "Path of the collection." collection: String!
  "Identifier of the resource." id: ID!
  "Identifier of its parent, if it has one." parentId: ID
  "Version of the resource after the change, or before its deletion." version: Int!
  "Kind of change." event: ChangeEvent!
  "Time of the change." time: DateTime!
  "Subject of the token, or role in the database." by: String!
  "The resource after the change, as in REST. Null after a deletion." resource: JSON
}

"Changes after a position, in the same order for all readers."
type RecordedChangePage {
  "The changes." items: [RecordedChange!]!
  "Whether there are more to read now." hasMore: Boolean!
  "Position after this page. Pass it as since to continue, also at the end of the feed." nextCursor: String!
}`

interface FeedArguments {
  readonly since?: string | null
  readonly collections?: readonly string[] | null
  readonly limit?: number | null
}

export function feedQuery(resources: readonly Resource[]): SchemaField {
  return {
    sdl: `"Changes of the collections that the caller may read. Following nextCursor returns each exactly once."
      changes(
        "A cursor, or now for the end of the feed. By default, starts with the oldest change that is kept." since: String,
        "Only changes of these collections." collections: [String!],
        "Maximum number of changes. Defaults to ${DEFAULT_PAGE_SIZE}." limit: Int = null
      ): RecordedChangePage`,
    resolve: async (_, { since, collections, limit }: FeedArguments, context) => {
      context.slot.throwIfLate()
      const { domain } = context
      const readable = readableCollections(resources, collections ?? undefined, context.caller)
      const request = {
        resources: readable,
        access: context.access,
        since: since ?? undefined,
        limit: pageSize(limit, domain.maximumPageSize),
      }
      const { changes, next, hasMore } = await readPage(domain, context.connections, request)
      if (since === NOW) seeChangesSoFar(context)
      return { items: changes.map((change) => toItem(change, context.caller)), hasMore, nextCursor: next }
    },
  }
}

/** Shows the fields that the caller may read. */
function toItem(change: RecordedChange, caller: Caller) {
  const { cursor, resource, key, version, event, time, by, row } = change
  return {
    cursor,
    collection: resource.path,
    id: key.id,
    parentId: key.parentId,
    version,
    event: event.toUpperCase(),
    time,
    by,
    resource: row && jsonValues(viewFor(resource, caller), row),
  }
}

const SINCE = '"Cursor to start after. By default, starts now." since: String'

export function feedSubscription(resources: readonly Resource[], feed: () => FeedWatch): SchemaField {
  return {
    sdl: `"Changes of the collections that the caller may read, as they happen, in the same order for all readers."
      changes("Only changes of these collections." collections: [String!], ${SINCE}): RecordedChange!`,
    resolve: (change: RecordedChange, _, { caller }) => toItem(change, caller),
    subscribe: (_, { collections, since }: FeedArguments, context) =>
      subscribeToFeed(
        context,
        feed(),
        readableCollections(resources, collections ?? undefined, context.caller),
        since,
      ),
  }
}

type ResourceArguments = FilterArguments & Pick<FeedArguments, 'since'>

/** Sends changes after which the resource matches a filter, and all deletions, which leave nothing to match. */
export function resourceSubscription(resource: Resource, feed: () => FeedWatch): SchemaField {
  const { changed, filter: filterType } = graphNames(resource)
  const parent = parentArgument(resource)
  return {
    sdl: `"Changes of ${resource.path} as they happen, in the same order for all readers."
      ${changed}(
        ${parent ? `"Only changes under this parent." ${parent}: ID,` : ''}
        "Only changes after which the resource matches this condition, and all deletions. It cannot have conditions on relations."
        filter: ${filterType}, ${SINCE}
      ): RecordedChange!`,
    // Its filter costs what that of a list does.
    lists: resource,
    resolve: (change: RecordedChange, _, { caller }) => toItem(change, caller),
    subscribe: async (_, { filter, since, ...args }: ResourceArguments, context) => {
      requireScope(context, resource, 'read')
      const condition = toFilter(resource, { filter: filter ?? null }, context)
      if (condition && relatedTargets(condition).length > 0) {
        const message = 'The filter of a subscription cannot have conditions on relations.'
        throw errorAt('filter', 'INVALID_VALUE', 'INVALID_QUERY_PARAMETER', message)
      }
      const lower = await lowerCaseOf(context.domain.client)
      const matches = condition && matcherOf(resource, condition, lower)
      const parentId = parent ? ((args as Values)[parent] ?? undefined) : undefined
      return subscribeToFeed(context, feed(), [resource], since, ({ key, row }) => {
        if (parentId !== undefined && key.parentId !== parentId) return false
        return !row || !matches || matches(row)
      })
    },
  }
}

/**
 * Follows the feed page by page, so a subscription has its order, can be resumed at any change, and needs no memory between
 * changes. The first page is read in the request, so that the position is known and errors fail the request. Yields each
 * change that is shown, and undefined after each page.
 *
 * @throws {DomainError} as {@link readFeed}, later also SERVICE_UNAVAILABLE (503) when no more requests may wait
 */
async function subscribeToFeed(
  context: GraphContext,
  feed: FeedWatch,
  resources: readonly Resource[],
  since: string | null | undefined,
  isShown: (change: RecordedChange) => boolean = () => true,
): Promise<AsyncIterable<RecordedChange | undefined>> {
  const { caller, access, connections, domain, slot, subscriber } = context
  if (!subscriber) throw new TypeError('A subscription needs a stream of events.')
  const { signal } = subscriber
  const limit = Math.min(subscriber.pageSize, domain.maximumPageSize)
  const request = { resources, access, since: since ?? NOW, limit }
  slot.throwIfLate()
  const first = await readPage(feed.source, connections, request)
  if (request.since === NOW) seeChangesSoFar(context)
  const read = (position: string) =>
    subscriber.read((streamConnections) =>
      readPage(feed.source, streamConnections, { ...request, since: position }),
    )
  return (async function* () {
    const empty = (next: string): FeedPage => ({ changes: [], next, hasMore: false })
    for await (const page of followFeed(first, { feed, caller, request, read, empty, signal })) {
      for (const change of page.changes) if (isShown(change)) yield change
      yield undefined
    }
    const message = 'The service cannot keep the subscription open now. Subscribe again with the last cursor.'
    throw new DomainError('SERVICE_UNAVAILABLE', message)
  })()
}

/** Makes later reads of the caller include all changes before the end of the feed, as if they were its own. */
function seeChangesSoFar({ caller, domain }: GraphContext): void {
  domain.readers?.recordWrite(caller)
}

/** Requests and subscriptions with the same view, at the same position, share a page. */
function readPage(source: Source, connections: Connections, request: FeedRequest) {
  return connections.read({
    client: source.client,
    key: requestKey('changes', readableKey(request), request.since, request.limit),
    scans: [],
    // Replicas may lack changes, and cannot assign positions.
    run: () => readFeed(source, request),
  })
}

/** The position of a page of a list in the feed. */
export function feedCursor(resource: Resource, feed: () => FeedWatch): SchemaPart {
  const { pageType } = graphNames(resource)
  const field: SchemaField = {
    sdl: `"Cursor for the feed of changes: the page includes all changes up to it. At most ten seconds old, unless the page is. Null if changes are not recorded."
      ${POSITIONED}: String`,
    resolve: ({ position }: { position?: number }) =>
      position === undefined ? null : toCursor(feed().startFor(position)),
  }
  return fieldsOf(pageType, `extend type ${pageType}`, [field])
}
