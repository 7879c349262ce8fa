import type { Context } from 'koa'
import { readableCollections } from '../../domain/feed/change-feed.ts'
import { followFeed } from '../../domain/feed/follow.ts'
import type { Prepare } from '../../graph/execution/operation.ts'
import { callerOf } from '../../http/auth/authenticate.ts'
import { asksFor } from '../../http/content/accept.ts'
import { EVENT_STREAM, sendEvents } from '../../http/content/event-stream.ts'
import { abortOnLeave } from '../../http/leave.ts'
import { preferencesOf, reportApplied } from '../../http/prefer.ts'
import type { Handler } from '../../http/routes.ts'
import type { Resource, Values } from '../../model/resource.ts'
import { picker } from '../hal.ts'
import { runForRequest } from '../operation-header.ts'
import { linkDescription, negotiate, respond } from '../respond.ts'
import { type RestSettings, type Urls, urlsFor } from '../urls.ts'
import { type ChangesQuery, changesUrl, parseChangesQuery } from './query.ts'

interface Change extends Values {
  readonly cursor: string
  readonly collection: string
  readonly id: string
  readonly parent_id: string | null
  readonly event: string
  readonly resource: Values | null
}

interface Page {
  readonly items: readonly Change[]
  readonly hasMore: boolean
  readonly next: string
}

const OPERATION = `query ($since: String, $collections: [String!], $limit: Int!) {
  changes(since: $since, collections: $collections, limit: $limit) {
    hasMore next: nextCursor
    items { cursor collection id parent_id: parentId version event time by resource }
  }
}`

/** Makes the handler of the feed: a page of recorded changes after a position, or a stream of them. */
export function changesHandler(
  resources: readonly Resource[],
  prepare: Prepare,
  settings: RestSettings,
): Handler {
  const operation = prepare({ type: 'query', name: 'changes', text: OPERATION })
  const present = presenter(resources)
  const requestOf = (ctx: Context, { since, collections, limit }: ChangesQuery) => {
    return { since, limit, resources: readableCollections(resources, collections, callerOf(ctx)) }
  }
  const waitAsPreferred = async (ctx: Context, query: ChangesQuery) => {
    const { wait } = preferencesOf(ctx)
    if (wait === undefined || !settings.feed || ctx.method === 'HEAD') return
    const request = requestOf(ctx, query)
    const { signal } = abortOnLeave(ctx)
    const hasWaited = await settings.feed.wait(request, callerOf(ctx), wait * 1_000, signal)
    if (hasWaited) reportApplied(ctx, `wait=${wait}`)
  }

  /** Sends changes as events from now on. The first page is read before, so its errors have a status. */
  async function stream(ctx: Context, { feed }: Pick<RestSettings, 'feed'>): Promise<void> {
    const urls = urlsFor(ctx, settings)
    const query = parseChangesQuery(ctx, settings.maximumPageSize, ctx.get('Last-Event-ID') || undefined)
    const caller = callerOf(ctx)
    const first = (await runForRequest(ctx, operation, { ...query }))['changes'] as Page
    const read = async (since: string) =>
      (await operation.run({ ...query, since }, caller))['changes'] as Page
    sendEvents(ctx, async function* (signal) {
      const request = requestOf(ctx, query)
      for await (const page of feed ? followFeed(first, { feed, caller, request, read, signal }) : [first]) {
        for (const change of page.items) {
          const shown = present(change, urls)
          yield `id: ${change.cursor}\nevent: ${shown['event']}\ndata: ${JSON.stringify(shown)}\n\n`
        }
        // Without data, this is no event, but the client remembers the position.
        yield `id: ${page.next}\n\n`
      }
    })
  }

  return async (ctx) => {
    ctx.vary('Accept')
    if (ctx.method === 'GET' && asksFor(ctx, EVENT_STREAM)) return stream(ctx, settings)
    negotiate(ctx)
    const urls = urlsFor(ctx, settings)
    linkDescription(ctx, urls)
    const query = parseChangesQuery(ctx, settings.maximumPageSize)
    await waitAsPreferred(ctx, query)
    const { changes } = await runForRequest(ctx, operation, { ...query })
    const { items, hasMore, next } = changes as Page
    respond(ctx, 200, {
      _links: {
        self: { href: changesUrl(urls, query) },
        next: { href: changesUrl(urls, { ...query, since: next }) },
      },
      limit: query.limit,
      has_more: hasMore,
      _embedded: { changes: items.map((change) => present(change, urls)) },
    })
  }
}

/** Makes the function that presents a change: the resource has the fields of this version of the API. */
function presenter(resources: readonly Resource[]) {
  const known = new Map(
    resources.map((resource) => [resource.path, { resource, membersOf: picker(resource.shownFields) }]),
  )
  return (
    { cursor, resource: values, event, parent_id: parentId, ...change }: Change,
    urls: Urls,
  ): Values => {
    const { resource, membersOf } = known.get(change.collection) as NonNullable<ReturnType<typeof known.get>>
    const key = { parentId: parentId ?? undefined, id: change.id }
    return {
      ...change,
      parent_id: parentId ?? undefined,
      event: event.toLowerCase(),
      resource: values ? membersOf(values) : undefined,
      _links: { resource: { href: urls.resource(resource, key) } },
    }
  }
}
