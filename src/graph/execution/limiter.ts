/** The capacity of a limiter, and the length of its queue. */
export interface LimiterOptions {
  readonly capacity: number
  /** How much of the capacity one caller may use. */
  readonly share: number
  /** How much of it a caller may use beside others, until 1,000 requests in a row were its own; by default the same. */
  readonly shareBesideOthers?: number
  /** How many requests may wait. Unlimited by default. */
  readonly waiting?: number
  /** How many requests of one caller may wait. */
  readonly waitingShare?: number
}

const ALONE_AFTER_REQUESTS = 1_000

/** Releases what was acquired. Must be called once. */
export type Release = () => void

/** Work that can be aborted. */
export interface Abortable {
  /** Calls the listener with the reason when the work is aborted; returns what removes the listener. */
  onAbort(listener: (reason: unknown) => void): () => void
}

interface WaitingRequest {
  readonly amount: number
  readonly start: () => void
}

/**
 * A capacity that callers share. Waiting requests start in rotation, one of each caller. A request that does
 * not fit yet does not block others that do. A request for more than a share, or for more than the capacity,
 * starts once nothing else is in use.
 */
export class Limiter {
  readonly #options: Required<LimiterOptions>
  readonly #usedBy = new Map<string, number>()
  /** By caller, in the order of the rotation. */
  readonly #queues = new Map<string, WaitingRequest[]>()
  #used = 0
  #waiting = 0
  /** The caller of the last request, and how many requests it has made since another made one. */
  #last: string | undefined
  #inARow = 0

  constructor({
    waiting = Infinity,
    waitingShare = waiting,
    share,
    shareBesideOthers = share,
    ...limits
  }: LimiterOptions) {
    this.#options = { ...limits, share, shareBesideOthers, waiting, waitingShare }
  }

  /** How much is in use. */
  get used(): number {
    return this.#used
  }

  /** How many requests wait. */
  get waiting(): number {
    return this.#waiting
  }

  /** Whether another request, of this caller if one is given, could neither start nor wait. */
  isFull(caller?: string): boolean {
    const { capacity, waiting, waitingShare } = this.#options
    if (this.#used >= capacity && this.#waiting >= waiting) return true
    if (caller === undefined) return false
    const queued = this.#queues.get(caller)?.length ?? 0
    return (this.#usedBy.get(caller) ?? 0) >= this.#share && queued >= waitingShare
  }

  /**
   * Resolves when the amount is in use, immediately if it fits; `until` withdraws a waiting request.
   *
   * @throws the reason of an abort
   */
  async acquire(caller: string, amount: number, until?: Abortable): Promise<Release> {
    return this.take(caller, amount) ?? this.#wait(caller, amount, until)
  }

  /** Uses the amount now, if it fits and no other request of the caller waits. */
  take(caller: string, amount: number): Release | undefined {
    this.#count(caller)
    if (this.#queues.has(caller) || !this.#fits(caller, amount)) return undefined
    return this.hold(caller, amount)
  }

  /** Counts an amount that is already in use, even if it does not fit. */
  hold(caller: string, amount: number): Release {
    this.#use(caller, amount)
    return () => this.#release(caller, amount)
  }

  #count(caller: string): void {
    this.#inARow = caller === this.#last ? this.#inARow + 1 : 0
    this.#last = caller
  }

  /** How much one caller may use now. */
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

  #use(caller: string, amount: number): void {
    this.#used += amount
    this.#usedBy.set(caller, (this.#usedBy.get(caller) ?? 0) + amount)
  }

  #release(caller: string, amount: number): void {
    this.#used -= amount
    const left = (this.#usedBy.get(caller) as number) - amount
    if (left > 0) this.#usedBy.set(caller, left)
    else this.#usedBy.delete(caller)
    this.#startWaiting()
  }

  #wait(caller: string, amount: number, until: Abortable | undefined): Promise<Release> {
    return new Promise((resolve, reject) => {
      const withdraw = (reason: unknown) => {
        this.#dequeue(caller, request)
        reject(reason)
      }
      const start = () => {
        forget?.()
        resolve(this.hold(caller, amount))
      }
      const request = { amount, start }
      this.#waiting++
      const queue = this.#queues.get(caller)
      if (queue) queue.push(request)
      else this.#queues.set(caller, [request])
      const forget = until?.onAbort(withdraw)
    })
  }

  #startWaiting(): void {
    for (const [caller, [request]] of this.#queues) {
      if (!request || !this.#fits(caller, request.amount)) continue
      this.#dequeue(caller, request)
      this.#takeLastTurn(caller)
      request.start()
    }
  }

  #dequeue(caller: string, request: WaitingRequest): void {
    const queue = (this.#queues.get(caller) ?? []).filter((other) => other !== request)
    this.#waiting--
    if (queue.length > 0) this.#queues.set(caller, queue)
    else this.#queues.delete(caller)
  }

  #takeLastTurn(caller: string): void {
    const queue = this.#queues.get(caller)
    this.#queues.delete(caller)
    if (queue) this.#queues.set(caller, queue)
  }
}
