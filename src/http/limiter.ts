interface LimiterOptions {
  readonly capacity: number
  /** How much of the capacity one caller may use. */
  readonly share: number
  /** How much of it a caller may use beside others. By default, the same. */
  readonly shareBesideOthers?: number
  /** How many requests may wait. Unlimited by default. */
  readonly waiting?: number
  readonly waitingShare?: number
  /** The error for a request that can neither start nor wait. */
  readonly refusal?: () => Error
}

/** A caller counts as alone after this many requests in a row. */
const ALONE_AFTER_REQUESTS = 1_000

export type Release = () => void

export interface Abortable {
  /** Returns a function that removes the listener. */
  onAbort(listener: (reason: unknown) => void): () => void
}

interface WaitingRequest {
  readonly amount: number
  readonly start: (release: Release) => void
}

/**
 * A capacity that callers share. Waiting requests start in rotation, one of each caller. A request that does not fit does
 * not block others. A request for more than a share or the capacity starts once nothing else is in use.
 */
export class Limiter {
  readonly #options: Required<LimiterOptions>
  readonly #usedBy = new Map<string, number>()
  /** By caller, in the order of the rotation. */
  readonly #queues = new Map<string, WaitingRequest[]>()
  #used = 0
  #waiting = 0
  /** The caller of the last request, and the number of its requests in a row. */
  #last: string | undefined
  #inARow = 0

  constructor({
    waiting = Infinity,
    waitingShare = waiting,
    share,
    shareBesideOthers = share,
    refusal = () => new Error('Too many requests are waiting.'),
    ...limits
  }: LimiterOptions) {
    this.#options = { ...limits, share, shareBesideOthers, waiting, waitingShare, refusal }
  }

  get used(): number {
    return this.#used
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Whether another request (of this caller) could neither start nor wait. */
  isFull(caller?: string): boolean {
    const { capacity, waiting, waitingShare } = this.#options
    if (this.#used >= capacity && this.#waiting >= waiting) return true
    if (caller === undefined) return false
    const queued = this.#queues.get(caller)?.length ?? 0
    return (this.#usedBy.get(caller) ?? 0) >= this.#share && queued >= waitingShare
  }

  /**
   * Resolves when the amount is in use. `until` withdraws a waiting request.
   *
   * @throws the reason of an abort, or the refusal if the request can neither start nor wait
   */
  async acquire(caller: string, amount: number, until?: Abortable): Promise<Release> {
    const release = this.take(caller, amount)
    if (release) return release
    if (this.isFull(caller)) throw this.#options.refusal()
    return new Promise((resolve, reject) => {
      const start = (release: Release) => {
        forget?.()
        resolve(release)
      }
      const request = { amount, start }
      this.#enqueue(caller, request)
      const forget = until?.onAbort((reason) => {
        this.#dequeue(caller, request)
        reject(reason)
      })
    })
  }

  /** Like `acquire`, but calls `start` at once if the amount fits, and never refuses. */
  enter(caller: string, amount: number, start: (release: Release) => void): void {
    const release = this.take(caller, amount)
    if (release) start(release)
    else this.#enqueue(caller, { amount, start })
  }

  /** Uses the amount now, if it fits and no other request of the caller waits. */
  take(caller: string, amount: number): Release | undefined {
    this.#inARow = caller === this.#last ? this.#inARow + 1 : 0
    this.#last = caller
    if (this.#queues.has(caller) || !this.#fits(caller, amount)) return undefined
    return this.hold(caller, amount)
  }

  /** Counts an amount that is already in use, even if it does not fit. */
  hold(caller: string, amount: number): Release {
    this.#count(caller, amount)
    return () => {
      this.#count(caller, -amount)
      this.#startWaiting()
    }
  }

  #count(caller: string, amount: number): void {
    const used = (this.#usedBy.get(caller) ?? 0) + amount
    this.#used += amount
    if (used > 0) this.#usedBy.set(caller, used)
    else this.#usedBy.delete(caller)
  }

  get #share(): number {
    const { share, shareBesideOthers } = this.#options
    return this.#inARow < ALONE_AFTER_REQUESTS ? shareBesideOthers : share
  }

  #fits(caller: string, amount: number): boolean {
    const { capacity } = this.#options
    const used = this.#usedBy.get(caller) ?? 0
    const isWithinShare = used === 0 || used + amount <= this.#share
    return isWithinShare && (this.#used === 0 || this.#used + amount <= capacity)
  }

  #enqueue(caller: string, request: WaitingRequest): void {
    this.#waiting++
    const queue = this.#queues.get(caller)
    if (queue) queue.push(request)
    else this.#queues.set(caller, [request])
  }

  #startWaiting(): void {
    for (const [caller, queue] of this.#queues) {
      const [request] = queue
      if (!request || !this.#fits(caller, request.amount)) continue
      this.#dequeue(caller, request)
      // The caller goes to the end of the rotation.
      if (this.#queues.delete(caller)) this.#queues.set(caller, queue)
      request.start(this.hold(caller, request.amount))
    }
  }

  #dequeue(caller: string, request: WaitingRequest): void {
    const queue = this.#queues.get(caller) ?? []
    queue.splice(queue.indexOf(request), 1)
    this.#waiting--
    if (queue.length === 0) this.#queues.delete(caller)
  }
}
