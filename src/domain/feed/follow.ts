import { setTimeout as delay } from 'node:timers/promises'
import type { Caller } from '../../model/caller.ts'
import { DomainError } from '../../model/errors.ts'
import type { ChangePage, ChangeRequest } from './change-feed.ts'
import type { FeedWatch } from './watch.ts'

const HEARTBEAT_MILLISECONDS = 15_000

/** Attempts to read a page, and the time between them. */
const MAXIMUM_ATTEMPTS = 5
const RETRY_MILLISECONDS = 1_000

interface Follower<Page> {
  readonly feed: FeedWatch
  readonly caller: Caller
  readonly request: ChangeRequest
  readonly read: (since: string) => Promise<Page>
  readonly signal: AbortSignal
}

/**
 * The pages of a feed from the first one on, as changes happen, and an empty one at least every 15 seconds. Ends when the
 * signal is aborted, or when no more requests may wait.
 */
export async function* followFeed<Page extends Pick<ChangePage, 'next' | 'hasMore'>>(
  first: Page,
  { feed, caller, request, read, signal }: Follower<Page>,
): AsyncGenerator<Page> {
  for (let page = first; ; page = await repeated(() => read(page.next))) {
    yield page
    if (signal.aborted) return
    const following = { ...request, since: page.next }
    if (!page.hasMore && !(await feed.wait(following, caller, HEARTBEAT_MILLISECONDS, signal))) return
    if (signal.aborted) return
  }
}

/** Retries a page while the service is busy: ending the stream would only make the client retry. */
async function repeated<Page>(read: () => Promise<Page>): Promise<Page> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read()
    } catch (error) {
      const isRefused = error instanceof DomainError && error.code === 'SERVICE_UNAVAILABLE'
      if (!isRefused || attempt === MAXIMUM_ATTEMPTS) throw error
      await delay(RETRY_MILLISECONDS)
    }
  }
}
