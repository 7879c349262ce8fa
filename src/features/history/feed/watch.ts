import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { BETWEEN_TIMELINES } from '../../../domain/recording.ts'
import { readableKey } from '../../../domain/session/session.ts'
import type { Caller } from '../../../model/access/caller.ts'
import { type FeedPage, type FeedRequest, readEnd, readNumbered, type Source } from './read-feed.ts'
import { numberChanges } from './upkeep.ts'

/** How often the feed is read while a request waits, for changes by others than this process. */
const POLL_MILLISECONDS = 250

/** The minimum time between two reads after writes. */
const WRITTEN_MILLISECONDS = 25

/** Requests that are woken at once, and the pause before the next ones. */
const WOKEN = 10
const WAKE_MILLISECONDS = 2

/** Requests that may wait in this process, in total and for each caller. */
const MAXIMUM_WAITING = 1_000
const MAXIMUM_OF_CALLER = 100

/** Limits the changes in the pages that are kept for other requests. */
const KEPT_CHANGES = 2_000

/** Follows the end of the feed for all callers of a process, with one statement at a time. */
export class FeedWatch {
  #last: number | undefined
  #recent: { readonly time: number; readonly last?: number } = { time: Number.NEGATIVE_INFINITY }
  /** The end of the feed at least `replicaLag` ago. */
  #settled: number | undefined
  /** Pages up to this end of the feed, by request: most callers wait for the same changes. */
  readonly #pages = new LRUCache<string, Promise<FeedPage>>({ maxSize: KEPT_CHANGES })
  /** The end of the last read of each caller. */
  readonly #turns = new Map<string, Promise<void>>()
  #isPolling = false
  #isWritten = false
  #endPause = () => {}
  #isWaking = false
  readonly #waiting = new Set<() => void>()
  readonly #waits = new Set<{ readonly identity: string; readonly end: () => void }>()
  #isStopped = false

  constructor(
    readonly source: Source,
    private readonly pollMilliseconds = POLL_MILLISECONDS,
    /** How far replicas may lag, in milliseconds; undefined without replicas. */
    readonly replicaLag?: number,
  ) {}

  /**
   * The position from which to follow the feed after reading a list that has reached one. The next page of the list may
   * come from a replica that lags further, so this is a position that each replica in use has reached.
   */
  startFor(position: number): number {
    const settled = this.#settled ?? position
    return position - settled < BETWEEN_TIMELINES ? Math.min(position, settled) : position
  }

  async refresh(): Promise<void> {
    const { source } = this
    if (source.changesDays === 0) return
    await numberChanges(source.client)
    const last = await readEnd(source)
    this.#settle(last)
    if (last === this.#last) return
    this.#last = last
    this.#pages.clear()
    void this.#wakeAll()
  }

  #settle(last: number): void {
    const now = performance.now()
    if (this.replicaLag === undefined || now - this.#recent.time < this.replicaLag) return
    this.#settled = this.#recent.last
    this.#recent = { time: now, last }
  }

  /** Wakes a few at a time, because each then reads the feed: a thousand at once would delay other requests. */
  async #wakeAll(): Promise<void> {
    if (this.#isWaking) return
    this.#isWaking = true
    let reached: number | undefined
    do {
      reached = this.#last
      for (const [index, wake] of [...this.#waiting].entries()) {
        wake()
        if (index % WOKEN === WOKEN - 1) await delay(WAKE_MILLISECONDS)
      }
    } while (reached !== this.#last)
    this.#isWaking = false
  }

  /**
   * Waits until there are changes after the position of a request, the time is over, or the signal is aborted.
   *
   * @returns the page of these changes, or an empty one; undefined if too many requests are waiting, or the service stops
   * @throws {DomainError} as `readFeed` does
   */
  async wait(
    request: FeedRequest & { readonly since: string },
    { identity }: Caller,
    milliseconds: number,
    signal: AbortSignal,
  ): Promise<FeedPage | undefined> {
    if (this.source.changesDays === 0) return undefined
    const waits = [...this.#waits].filter((wait) => wait.identity === identity)
    if (waits.length >= MAXIMUM_OF_CALLER || this.#waiting.size >= MAXIMUM_WAITING) return undefined
    // AbortSignal.any and AbortSignal.timeout can be collected as garbage, and then never fire (Node 20).
    const ending = new AbortController()
    const ended = ending.signal
    const end = () => ending.abort()
    const timer = setTimeout(end, milliseconds)
    signal.addEventListener('abort', end)
    const wait = { identity, end }
    this.#waits.add(wait)
    if (signal.aborted || this.#isStopped) end()
    try {
      let { since } = request
      while (!ended.aborted) {
        // Before the read, so that a change during it also wakes.
        const change = this.#next(ended)
        const page = await this.#read({ ...request, since }, identity)
        if (page.changes.length > 0 || page.hasMore) return page
        since = page.next
        await change
      }
      return this.#isStopped ? undefined : { changes: [], next: since, hasMore: false }
    } finally {
      // Polling ends with the last wait.
      end()
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      this.#waits.delete(wait)
    }
  }

  /** Reads the feed soon after a write of this process. */
  written(): void {
    this.#isWritten = true
    this.#endPause()
  }

  stop(): void {
    this.#isStopped = true
    for (const { end } of this.#waits) end()
    this.#endPause()
  }

  /**
   * Reads equal pages once. Those of one caller follow each other, because its streams can be of any number of sets of
   * collections.
   */
  #read(request: FeedRequest, identity: string): Promise<FeedPage> {
    const { since, limit, resources, access } = request
    const key = readableKey(resources, access, since, limit)
    const earlier = this.#pages.get(key)
    if (earlier) return earlier
    const before = this.#turns.get(identity) ?? Promise.resolve()
    const page = before.then(() => readNumbered(this.source, request))
    this.#pages.set(key, page, { size: limit })
    const failed = () => void this.#pages.delete(key)
    const turn = page
      .then(() => {}, failed)
      .then(() => {
        if (this.#turns.get(identity) === turn) this.#turns.delete(identity)
      })
    this.#turns.set(identity, turn)
    return page
  }

  /** Resolves when the feed has changed, or the signal is aborted. */
  #next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake)
      if (signal.aborted) wake()
      void this.#poll()
    })
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) return
    this.#isPolling = true
    while (this.#waiting.size > 0) {
      this.#isWritten = false
      // After a failure of the database, the next read finds the changes.
      await this.refresh().catch(() => {})
      await this.#pause()
    }
    this.#isPolling = false
  }

  /** After a write, a millisecond for each waiting request, since each reads the feed. */
  async #pause(): Promise<void> {
    if (!this.#isWritten) {
      const pause = new AbortController()
      this.#endPause = () => pause.abort()
      await delay(this.pollMilliseconds, undefined, { signal: pause.signal }).catch(() => {})
    }
    const rest = Math.min(Math.max(WRITTEN_MILLISECONDS, this.#waiting.size), POLL_MILLISECONDS)
    if (this.#isWritten) await delay(rest)
  }
}
