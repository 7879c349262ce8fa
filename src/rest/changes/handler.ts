import type { Context } from 'koa'
import { readableCollections } from '../../domain/feed/change-feed.ts'
import type { FeedWatch } from '../../domain/feed/watch.ts'
import type { Prepare } from '../../graph/execution/operation.ts'
import { callerOf } from '../../http/auth/authenticate.ts'
import { asksFor } from '../../http/content/accept.ts'
import { EVENT_STREAM } from '../../http/content/event-stream.ts'
import { abortOnLeave } from '../../http/content/leave.ts'
import { preferencesOf, reportApplied } from '../../http/prefer.ts'
import type { Handler } from '../../http/routes.ts'
import type { Resource } from '../../model/resource.ts'
import { runForRequest } from '../operation-header.ts'
import { linkDescription, negotiate, respond } from '../respond.ts'
import { type RestSettings, urlsFor } from '../urls.ts'
import { type ChangesQuery, changesUrl, parseChangesQuery } from './query.ts'
import { changeRepresenter } from './representation.ts'
import { changeStreams, type Page } from './stream.ts'

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
  const represent = changeRepresenter(resources)
  const send = changeStreams(represent)
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

  const stream = async (ctx: Context, feed: FeedWatch) => {
    const query = parseChangesQuery(ctx, settings.maximumPageSize, ctx.get('Last-Event-ID') || undefined)
    const first = (await runForRequest(ctx, operation, { ...query }))['changes'] as Page
    const read = async (since: string) =>
      (await operation.run({ ...query, since }, callerOf(ctx)))['changes'] as Page
    send(ctx, { feed, urls: urlsFor(ctx, settings), request: requestOf(ctx, query), first, read })
  }

  return async (ctx) => {
    ctx.vary('Accept')
    const { feed } = settings
    if (feed && ctx.method === 'GET' && asksFor(ctx, EVENT_STREAM)) return stream(ctx, feed)
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
      _embedded: { changes: items.map((change) => represent(change, urls)) },
    })
  }
}
