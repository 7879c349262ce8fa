import type { GraphContext } from '../../../graph/execution/context.ts'
import { graphNames, parentArgument } from '../../../graph/names.ts'
import { type FilterArguments, matchingRows } from '../../../graph/schema/filters.ts'
import { pageSize } from '../../../graph/schema/lists.ts'
import { POSITIONED } from '../../../graph/schema/pages.ts'
import { fieldsOf, type SchemaField, type SchemaPart } from '../../../graph/schema/sdl.ts'
import type { Caller } from '../../../model/access/caller.ts'
import type { Resource, Values } from '../../../model/definition/resource.ts'
import { viewFor } from '../../../model/definition/views.ts'
import { DomainError, errorAt } from '../../../model/errors.ts'
import { matcherOf } from '../../../model/query/matches.ts'
import { DEFAULT_PAGE_SIZE, relatedTargets } from '../../../model/query/query.ts'
import { jsonValues } from '../../../model/rows/columns.ts'
import { type Followed, followFeed, lowerCase } from '../feed/follow.ts'
import { type FeedPage, readableCollections, readFeedFor } from '../feed/read-feed.ts'
import { givenCursor, NOW, type RecordedChange, shownCursor, toCursor } from '../feed/recorded-change.ts'

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
    resolve: async (_, { since, collections, limit }: FeedArguments, { session }) => {
      const { changes, next, hasMore } = await readFeedFor(session, {
        resources: readableCollections(resources, collections ?? undefined, session.caller),
        since: givenCursor(session.caller, since ?? undefined),
        limit: pageSize(limit, session.maximumPageSize),
      })
      return {
        items: changes.map((change) => toItem(change, session.caller)),
        hasMore,
        nextCursor: shownCursor(session.caller, next),
      }
    },
  }
}

/** Shows the fields that the caller may read. */
export function toItem(change: RecordedChange, caller: Caller) {
  const { cursor, resource, key, version, event, time, by, row } = change
  return {
    cursor: shownCursor(caller, cursor),
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

export function feedSubscription(followed: Followed): SchemaField {
  return {
    sdl: `"Changes of the collections that the caller may read, as they happen, in the same order for all readers."
      changes("Only changes of these collections." collections: [String!], ${SINCE}): RecordedChange!`,
    resolve: (change: RecordedChange, _, { session }) => toItem(change, session.caller),
    subscribe: (_, { collections, since }: FeedArguments, context) => {
      const { caller } = context.session
      const resources = readableCollections(followed.resources, collections ?? undefined, caller)
      return subscribeToFeed(context, followed, resources, since)
    },
  }
}

type ResourceArguments = FilterArguments & Pick<FeedArguments, 'since'>

/** Sends changes after which the resource matches a filter, and all deletions, which leave nothing to match. */
export function resourceSubscription(resource: Resource, followed: Followed): SchemaField {
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
    resolve: (change: RecordedChange, _, { session }) => toItem(change, session.caller),
    subscribe: async (_, { filter, since, ...args }: ResourceArguments, context) => {
      const listing = context.session.listing({ resource })
      const { filter: condition } = matchingRows(listing, { filter: filter ?? null })
      if (condition && relatedTargets(condition).length > 0) {
        const message = 'The filter of a subscription cannot have conditions on relations.'
        throw errorAt('filter', 'INVALID_VALUE', 'INVALID_QUERY_PARAMETER', message)
      }
      const matches =
        condition && matcherOf(resource, condition, await lowerCase(followed, context.session.caller))
      const parentId = parent ? ((args as Values)[parent] ?? undefined) : undefined
      return subscribeToFeed(context, followed, [resource], since, ({ key, row }) => {
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
 * @throws {DomainError} as {@link readFeedFor}, later also SERVICE_UNAVAILABLE (503) when no more requests may wait
 */
async function subscribeToFeed(
  { session, stream }: GraphContext,
  followed: Followed,
  resources: readonly Resource[],
  since: string | null | undefined,
  isShown: (change: RecordedChange) => boolean = () => true,
): Promise<AsyncIterable<RecordedChange | undefined>> {
  if (!stream) throw new TypeError('A subscription needs a stream of events.')
  const { caller, maximumPageSize } = session
  const { feed, core } = followed.of(caller)
  const { accessOf, changesPerPage } = core
  const limit = Math.min(DEFAULT_PAGE_SIZE, maximumPageSize, changesPerPage)
  const first = await readFeedFor(session, { resources, since: givenCursor(caller, since ?? NOW), limit })
  const request = { resources, since: first.next, limit, access: accessOf(caller) }
  const eventsOf = ({ changes }: FeedPage) => [...changes.filter(isShown), undefined]
  return (async function* () {
    yield* eventsOf(first)
    for await (const page of followFeed(feed, request, caller, stream.signal)) yield* eventsOf(page)
    const message = 'The service cannot keep the subscription open now. Subscribe again with the last cursor.'
    throw new DomainError('SERVICE_UNAVAILABLE', message)
  })()
}

/** The position of a page of a list in the feed. */
export function feedCursor(resource: Resource, followed: Followed): SchemaPart {
  const { pageType } = graphNames(resource)
  const field: SchemaField = {
    sdl: `"Cursor for the feed of changes: the page includes all changes up to it. At most ten seconds old, unless the page is. Null if changes are not recorded."
      ${POSITIONED}: String`,
    resolve: ({ position }: { position?: number }, _, { session }) =>
      position === undefined
        ? null
        : shownCursor(session.caller, toCursor(followed.of(session.caller).feed.startFor(position))),
  }
  return fieldsOf(pageType, `extend type ${pageType}`, [field])
}
