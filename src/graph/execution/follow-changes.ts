import { type ChangeRequest, NOW, readChanges } from '../../domain/feed/change-feed.ts'
import { followFeed } from '../../domain/feed/follow.ts'
import type { RecordedChange } from '../../domain/feed/recorded-change.ts'
import { DomainError } from '../../model/errors.ts'
import { DEFAULT_PAGE_SIZE } from '../../model/query/query.ts'
import type { Resource } from '../../model/resource.ts'
import type { Connections } from './connection-shares.ts'
import type { GraphContext } from './context.ts'

// A subscription reads the feed of changes page by page, so it has the order of the feed, can be resumed at any change,
// and needs no memory between changes.

/** Changes that a subscription holds at once. */
export const SUBSCRIPTION_PAGE = DEFAULT_PAGE_SIZE

/**
 * Begins to follow the feed. The first page is read before, so that the position is known, and its errors are those of the
 * request. Yields each change that is shown, and undefined after each page.
 *
 * @throws {DomainError} as {@link readChanges}, later also SERVICE_UNAVAILABLE (503) when no more requests may wait
 */
export async function followChanges(
  context: GraphContext,
  resources: readonly Resource[],
  since: string | null | undefined,
  isShown: (change: RecordedChange) => boolean = () => true,
): Promise<AsyncIterable<RecordedChange | undefined>> {
  const { caller, connections, domain, slot, subscriber } = context
  if (!subscriber) throw new TypeError('A subscription needs a stream of events.')
  const { feed, signal } = subscriber
  const request = {
    resources,
    since: since ?? NOW,
    limit: Math.min(SUBSCRIPTION_PAGE, domain.maximumPageSize),
  }
  slot.throwIfLate()
  const first = await readPage(context, connections, request)
  const read = (position: string) =>
    subscriber.read((own) => readPage(context, own, { ...request, since: position }))
  return (async function* () {
    for await (const page of followFeed(first, { feed, caller, request, read, signal })) {
      for (const change of page.changes) if (isShown(change)) yield change
      yield undefined
    }
    const message = 'The service cannot wait for more changes now. Subscribe again, after the last cursor.'
    throw new DomainError('SERVICE_UNAVAILABLE', message)
  })()
}

/** Subscriptions at the same position share the page. */
function readPage({ domain }: GraphContext, connections: Connections, request: ChangeRequest) {
  const { resources, since, limit } = request
  const key = `changes ${JSON.stringify([resources.map(({ path }) => path), since, limit])}`
  // Replicas may lack changes, and cannot give them positions.
  const run = () => readChanges(domain, request)
  return connections.read({ scans: [], run }, { client: domain.client, key })
}
