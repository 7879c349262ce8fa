import { POSITIONED } from '../../../graph/schema/pages.ts'
import { callerOf, refuseExpired } from '../../../http/auth/authenticate.ts'
import { abortOnLeave, EVENT_STREAM, onExpiry, sendEvents } from '../../../http/content/event-stream.ts'
import type { Context } from '../../../http/context.ts'
import { requestHeader } from '../../../http/headers.ts'
import { preferencesOf, reportApplied } from '../../../http/negotiation.ts'
import type { Handler } from '../../../http/routes.ts'
import type { Caller } from '../../../model/access/caller.ts'
import { definedName } from '../../../model/definition/fields.ts'
import type { Values } from '../../../model/definition/resource.ts'
import { ABSENT } from '../../../model/errors.ts'
import { runForRequest } from '../../../rest/graphql-operations.ts'
import { picker } from '../../../rest/hal.ts'
import type { HeaderLink, RestParts, ServiceOperation } from '../../../rest/operation.ts'
import { QueryParameters } from '../../../rest/query-parameters.ts'
import { linkDescription, MEDIA_TYPES, negotiate, respond } from '../../../rest/respond.ts'
import { type Urls, urlsFor, withQuery } from '../../../rest/urls.ts'
import { type Followed, followFeed } from '../feed/follow.ts'
import { type FeedPage, readableCollections } from '../feed/read-feed.ts'
import { givenCursor, NOW, shownCursor } from '../feed/recorded-change.ts'
import { toItem } from '../graphql/feed.ts'

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

interface Page {
  readonly items: readonly Change[]
  readonly hasMore: boolean
  readonly next: string
}

interface Change extends Values {
  readonly cursor: string
  readonly collection: string
  readonly id: string
  readonly parent_id: string | null | undefined
  readonly event: string
  readonly resource: Values | null
}

function changesHandler({ resources, executor, settings }: RestParts, followed: Followed): Handler {
  const operation = executor.prepare({ type: 'query', name: 'changes', text: OPERATION, sizedBy: 'limit' })
  const collections = new Map(
    resources.map((resource) => [
      resource.path,
      { resource, membersOf: picker(resource.shownFields, definedName) },
    ]),
  )
  /**
   * The events of the last pages, because most streams share theirs. With 900 streams and 10 writes a second, this halves the
   * processor time.
   */
  const texts = new WeakMap<FeedPage, { readonly base: string; readonly text: string }>()

  const requestOf = (caller: Caller, since: string, { collections, limit }: FeedQuery) => {
    const wanted = readableCollections(followed.resources, collections, caller)
    return {
      since: givenCursor(caller, since),
      limit,
      resources: wanted,
      access: followed.of(caller).core.accessOf(caller),
    }
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
    const { since } = query
    if (wait === undefined || ctx.method === 'HEAD') return
    if (since === undefined || since === NOW) return reportApplied(ctx, `wait=${wait}`)
    const caller = callerOf(ctx)
    const request = requestOf(caller, since, query)
    const ended = abortOnLeave(ctx)
    const forgetExpiry = onExpiry(ctx, () => ended.abort())
    const found = followed.of(caller).feed.wait(request, caller, wait * 1_000, ended.signal)
    // The read that follows succeeds, or reports the error.
    const isOver = await found.catch(() => true)
    forgetExpiry()
    refuseExpired(ctx)
    if (isOver) reportApplied(ctx, `wait=${wait}`)
  }

  function toEvents(items: readonly Change[], next: string, urls: Urls): string {
    const events = items.map((change) => {
      const shown = represent(change, urls)
      return `id: ${change.cursor}\nevent: ${shown['event']}\ndata: ${JSON.stringify(shown)}\n\n`
    })
    // It has data, because some clients pass blocks that have only an id to handlers, too.
    if (items.at(-1)?.cursor !== next)
      events.push(`id: ${next}\nevent: position\ndata: ${JSON.stringify({ position: next })}\n\n`)
    return events.join('')
  }

  async function stream(ctx: Context): Promise<void> {
    const asked = parseFeedQuery(
      ctx,
      settings.maximumPageSize,
      requestHeader(ctx, 'LastEventID') || undefined,
    )
    const [caller, urls] = [callerOf(ctx), urlsFor(ctx, settings)]
    const { feed, core } = followed.of(caller)
    const query = { ...asked, limit: Math.min(asked.limit, core.changesPerPage) }
    // The first page is read before the stream begins, so that its errors have a status.
    const { changes } = await runForRequest(ctx, operation, query)
    const { items, next } = changes as Page
    const { base } = urls
    const request = requestOf(caller, next, query)
    const textOf = (page: FeedPage) => {
      const known = texts.get(page)
      if (known?.base === base) return known.text
      const shown = page.changes.map((change) => {
        const { parentId, ...item } = toItem(change, caller)
        return { ...item, parent_id: parentId }
      })
      const text = toEvents(shown, shownCursor(caller, page.next), urls)
      texts.set(page, { base, text })
      return text
    }
    sendEvents(ctx, async function* (signal) {
      yield toEvents(items, next, urls)
      for await (const page of followFeed(feed, request, caller, signal)) yield textOf(page)
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
