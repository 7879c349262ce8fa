import { setTimeout as delay } from 'node:timers/promises'
import { lowerCaseOf } from '../../../domain/lower-case.ts'
import type { Caller } from '../../../model/access/caller.ts'
import type { Resource } from '../../../model/definition/resource.ts'
import { isUnavailable } from '../../../model/errors.ts'
import type { Core } from '../../feature.ts'
import type { FeedPage, FeedRequest } from './read-feed.ts'
import type { FeedWatch } from './watch.ts'

/** Far less than the usual timeouts of proxies. */
const HEARTBEAT_MILLISECONDS = 5_000

/** Attempts to read a page, and the time between them. */
const MAXIMUM_ATTEMPTS = 5
const RETRY_MILLISECONDS = 1_000

/** The feed of a database. */
export interface Started {
  readonly feed: FeedWatch
  readonly core: Core
}

/** What follows the feeds. */
export interface Followed {
  readonly resources: readonly Resource[]
  /** That of a caller, whose database is open. */
  of(caller: Caller): Started
}

export const lowerCase = (followed: Followed, caller: Caller) =>
  lowerCaseOf(followed.of(caller).core.database.client)

/**
 * The pages of a feed after a position, as changes happen, and an empty one at least every 5 seconds, also while the service
 * is busy: ending the stream would only make the client retry. Ends when the signal is aborted, or when no more requests may
 * wait.
 */
export async function* followFeed(
  feed: Pick<FeedWatch, 'wait'>,
  request: FeedRequest & { readonly since: string },
  caller: Caller,
  signal: AbortSignal,
): AsyncGenerator<FeedPage> {
  let [since, failures] = [request.since, 0]
  while (!signal.aborted) {
    try {
      const page = await feed.wait({ ...request, since }, caller, HEARTBEAT_MILLISECONDS, signal)
      if (!page || signal.aborted) return
      yield page
      ;[since, failures] = [page.next, 0]
    } catch (error) {
      if (!isUnavailable(error) || ++failures === MAXIMUM_ATTEMPTS) throw error
      await delay(RETRY_MILLISECONDS)
    }
  }
}
