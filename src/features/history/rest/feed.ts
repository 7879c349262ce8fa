import { LRUCache } from 'lru-cache'
import { POSITIONED } from '../../../graph/schema/pages.ts'
import { callerOf, refuseExpired } from '../../../http/auth/authenticate.ts'
import { abortOnLeave, onExpiry } from '../../../http/content/ending.ts'
import { EVENT_STREAM, sendEvents } from '../../../http/content/event-stream.ts'
import type { Context } from '../../../http/context.ts'
import { requestHeader } from '../../../http/headers/request-headers.ts'
import { preferencesOf, reportApplied } from '../../../http/negotiation.ts'
import type { Handler } from '../../../http/routes.ts'
import type { Values } from '../../../model/definition/resource.ts'
import { viewFor } from '../../../model/definition/views.ts'
import { ABSENT } from '../../../model/errors.ts'
import { runForRequest } from '../../../rest/graphql-operations.ts'
import { picker } from '../../../rest/hal.ts'
import type { HeaderLink, RestParts, ServiceOperation } from '../../../rest/operation.ts'
import { QueryParameters } from '../../../rest/query-parameters.ts'
import { linkDescription, MEDIA_TYPES, negotiate, respond } from '../../../rest/respond.ts'
import { type Urls, urlsFor, withQuery } from '../../../rest/urls.ts'
import { type Followed, followFeed } from '../feed/follow.ts'
import { readableCollections } from '../feed/read-feed.ts'
import { readableKey } from '../feed/readable-changes.ts'

export const FEED_PATH = '/changes'

/** A query of the feed of changes; these are also the variables of its operation. */
type FeedQuery = {
  readonly since?: string | undefined
  readonly collections?: readonly string[] | undefined
  readonly limit: number
}

function feedUrl({ base }: Urls, { since, collections, limit }: FeedQuery): string {
  return withQuery(base + FEED_PATH, { since, collection: collections?.join(), limit })
}

/** From a page of a list to the changes after it. */
export const feedLink: HeaderLink = {
  on: 'list',
  relation: 'changes',
  selects: `since: ${POSITIONED}`,
  target({ urls, resource, page }) {
    const since = page?.data['since'] as string | null | undefined
    return since && page
      ? feedUrl(urls, { since, collections: [resource.path], limit: page.limit })
      : undefined
  },
}

const record = {
  method: 'GET',
  path: FEED_PATH,
  id: 'listChanges',
  summary: 'The changes of resources, in the same order for all readers',
  description:
    'Following `next` returns every change exactly once, for the collections that the token may read. `next` is always ' +
    'present; at the end of the feed, request it again later. A position after which changes are no longer kept, or ' +
    'before which some were lost in a failover or a restore, is 410. In text/event-stream, each change is an event with its position, and events of the type `position` have only that.',
  query: {
    since: 'A position in the feed, or `now` for its end. By default, the oldest change that is kept.',
    collection: 'Only changes of these collections, separated by commas.',
    limit: null,
  },
  headers: ['PreferWait', 'LastEventID'],
  types: [EVENT_STREAM],
  responses: {
    200: {
      description: 'Changes.',
      headers: ['Preference-Applied', 'Consistency-Token'],
      body: 'RecordedChanges',
    },
  },
  errors: ['ACCESS_DENIED', ...ABSENT, 'METHOD_NOT_ALLOWED'],
} as const satisfies Omit<ServiceOperation, 'handler'>

export function feedOperation(followed: Followed): ServiceOperation {
  return { ...record, handler: (parts) => changesHandler(parts, followed) }
}

const OPERATION = `query ($since: String, $collections: [String!], $limit: Int!) {
  changes(since: $since, collections: $collections, limit: $limit) {
    hasMore next: nextCursor
    items { cursor collection id parent_id: parentId version event time by resource }
  }
}`

/** Limits the events that are kept for other streams. */
const KEPT_CHARACTERS = 2 * 1024 * 1024

interface Page {
  readonly items: readonly Change[]
  readonly hasMore: boolean
  readonly next: string
}

interface Change extends Values {
  readonly cursor: string
  readonly collection: string
  readonly id: string
  readonly parent_id: string | null
  readonly event: string
  readonly resource: Values | null
}

function changesHandler(
  { resources, executor, settings }: RestParts,
  { feed, accessOf, resources: stored }: Followed,
): Handler {
  const operation = executor.prepare({ type: 'query', name: 'changes', text: OPERATION, sizedBy: 'limit' })
  const collections = new Map(
    resources.map((resource) => [resource.path, { resource, membersOf: picker(resource.shownFields) }]),
  )
  type EventPage = ReturnType<typeof toEvents>
  /**
   * Most streams have the same position and query, so each page is read and written as text only once. With 900 streams
   * and 10 writes a second, this halves the processor time, and changes arrive after 0.2 s instead of 1 s.
   */
  const pages = new LRUCache<string, EventPage, () => Promise<EventPage>>({
    maxSize: KEPT_CHARACTERS,
    sizeCalculation: ({ text }) => text.length,
    fetchMethod: (_key, _stale, { context }) => context(),
  })

  const requestOf = (ctx: Context, { since, collections, limit }: FeedQuery) => {
    const caller = callerOf(ctx)
    const wanted = readableCollections(stored, collections, caller)
    return { since, limit, resources: wanted, access: accessOf(caller) }
  }

  function represent({ cursor, resource: values, event, parent_id, ...change }: Change, urls: Urls): Values {
    const { resource, membersOf } = collections.get(change.collection) as NonNullable<
      ReturnType<typeof collections.get>
    >
    const parentId = parent_id ?? undefined
    return {
      ...change,
      parent_id: parentId,
      event: event.toLowerCase(),
      resource: values ? membersOf(values) : undefined,
      _links: { resource: { href: urls.resource(resource, { parentId, id: change.id }) } },
    }
  }

  async function waitAsPreferred(ctx: Context, query: FeedQuery): Promise<void> {
    const { wait } = preferencesOf(ctx)
    if (wait === undefined || ctx.method === 'HEAD') return
    const request = requestOf(ctx, query)
    const ended = abortOnLeave(ctx)
    const forgetExpiry = onExpiry(ctx, () => ended.abort())
    const search = await feed().wait(request, callerOf(ctx), wait * 1_000, ended.signal)
    forgetExpiry()
    refuseExpired(ctx)
    if (search) reportApplied(ctx, `wait=${wait}`)
  }

  function toEvents({ items, hasMore, next }: Page, urls: Urls) {
    const events = items.map((change) => {
      const shown = represent(change, urls)
      return `id: ${change.cursor}\nevent: ${shown['event']}\ndata: ${JSON.stringify(shown)}\n\n`
    })
    // It has data, because some clients pass blocks that have only an id to handlers, too.
    if (items.at(-1)?.cursor !== next)
      events.push(`id: ${next}\nevent: position\ndata: ${JSON.stringify({ position: next })}\n\n`)
    return { text: events.join(''), hasMore, next }
  }

  async function stream(ctx: Context): Promise<void> {
    const asked = parseFeedQuery(
      ctx,
      settings.maximumPageSize,
      requestHeader(ctx, 'LastEventID') || undefined,
    )
    const limit = Math.min(asked.limit, executor.changesPerPage(operation))
    const query = { ...asked, limit }
    // The first page is read before the stream begins, so that its errors have a status.
    const { changes: first } = await runForRequest(ctx, operation, query)
    const [caller, urls, request] = [callerOf(ctx), urlsFor(ctx, settings), requestOf(ctx, query)]
    const variants = request.resources.map((resource) => viewFor(resource, caller).variant)
    const filter = `${urls.base} ${query.limit} ${variants} ${readableKey(request)}`
    const read = async (since: string) => {
      const key = `${since} ${filter}`
      const readOwn = async () => {
        const { changes } = await operation.run({ ...query, since }, caller)
        return toEvents(changes as Page, urls)
      }
      // The failed read may belong to another caller.
      const page = await pages.forceFetch(key, { context: readOwn }).catch(readOwn)
      // The next read may find more at this position.
      if (page.next === since) pages.delete(key)
      return page
    }
    sendEvents(ctx, async function* (signal) {
      const empty = (next: string) => toEvents({ items: [], hasMore: false, next }, urls)
      const follower = { feed: feed(), caller, request, read, empty, signal }
      for await (const { text } of followFeed(toEvents(first as Page, urls), follower)) yield text
    })
  }

  return async (ctx) => {
    negotiate(ctx, [...MEDIA_TYPES, EVENT_STREAM])
    const urls = urlsFor(ctx, settings)
    linkDescription(ctx, urls)
    if (ctx.state.mediaType === EVENT_STREAM) return stream(ctx)
    const query = parseFeedQuery(ctx, settings.maximumPageSize)
    await waitAsPreferred(ctx, query)
    const { changes } = await runForRequest(ctx, operation, query)
    const { items, hasMore, next } = changes as Page
    respond(ctx, 200, {
      _links: {
        self: { href: feedUrl(urls, query) },
        next: { href: feedUrl(urls, { ...query, since: next }) },
      },
      limit: query.limit,
      has_more: hasMore,
      _embedded: { changes: items.map((change) => represent(change, urls)) },
    })
  }
}

/**
 * @param last the position of the last event that a stream has sent, which replaces `since`
 * @throws {DomainError} INVALID_QUERY_PARAMETER (400) with all problems
 */
function parseFeedQuery(ctx: Context, maximum: number, last?: string): FeedQuery {
  const parameters = new QueryParameters(ctx.URL.searchParams)
  parameters.checkNames(Object.keys(record.query))
  const limit = parameters.limit(maximum)
  parameters.refuseProblems()
  const since = last ?? parameters.search.get('since') ?? undefined
  const collections = parameters.search.get('collection')?.split(',')
  return { since, collections: collections && [...new Set(collections)], limit }
}
