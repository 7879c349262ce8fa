import { setTimeout as delay } from 'node:timers/promises'
import type { Access } from '../../../model/access/access.ts'
import type { Caller } from '../../../model/access/caller.ts'
import type { Resource } from '../../../model/definition/resource.ts'
import { isUnavailable } from '../../../model/errors.ts'
import type { LowerCase } from '../../../model/query/matches.ts'
import type { FeedPage, FeedRequest } from './read-feed.ts'
import type { FeedWatch } from './watch.ts'

/** Far less than the usual timeouts of proxies. */
const HEARTBEAT_MILLISECONDS = 5_000

/** Attempts to read a page, and the time between them. */
const MAXIMUM_ATTEMPTS = 5
const RETRY_MILLISECONDS = 1_000

/** What follows the feed. The functions can be called once the service has started. */
export interface Followed {
  readonly resources: readonly Resource[]
  feed(): FeedWatch
  accessOf(caller: Caller): Access
  /** Lowers the case of a text as the database does. */
  lower(): Promise<LowerCase>
}

interface Follower<Page> {
  readonly feed: FeedWatch
  readonly caller: Caller
  readonly request: FeedRequest
  readonly read: (since: string) => Promise<Page>
  /** Makes a page without changes. */
  readonly empty: (next: string) => Page
  readonly signal: AbortSignal
}

/**
 * The pages of a feed from the first one on, as changes happen, and an empty one at least every 5 seconds. Ends when the
 * signal is aborted, or when no more requests may wait.
 */
export async function* followFeed<Page extends Pick<FeedPage, 'next' | 'hasMore'>>(
  first: Page,
  { feed, caller, request, read, empty, signal }: Follower<Page>,
): AsyncGenerator<Page> {
  for (let page = first; ; ) {
    yield page
    if (signal.aborted) return
    const { next, hasMore } = page
    const result = hasMore
      ? { isThere: true, reached: next }
      : await feed.wait({ ...request, since: next }, caller, HEARTBEAT_MILLISECONDS, signal)
    if (!result || signal.aborted) return
    page = result.isThere ? await repeated(() => read(next)) : empty(result.reached ?? next)
  }
}

/** Retries a page while the service is busy: ending the stream would only make the client retry. */
async function repeated<Page>(read: () => Promise<Page>): Promise<Page> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read()
    } catch (error) {
      const isRefused = isUnavailable(error)
      if (!isRefused || attempt === MAXIMUM_ATTEMPTS) throw error
      await delay(RETRY_MILLISECONDS)
    }
  }
}
