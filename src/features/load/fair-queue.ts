/** Work that can be given up. */
export interface Abortable {
  /** Returns a function that removes the listener. */
  onAbort(listener: (reason: unknown) => void): () => void
}

export interface QueueOptions {
  /** In units. */
  readonly capacity: number
  /** How many of them one caller may use beside others. No request needs more. */
  readonly share: number
  /** How many of them a caller may use that is alone. By default, the same. */
  readonly shareAlone?: number
  /** Whether a caller is alone, if this queue does not see all callers. */
  readonly isAlone?: (caller: string) => boolean
  /** How many requests may wait, and how many of one caller. Unlimited by default. */
  readonly waiting?: number
  readonly waitingShare?: number
  /** The error for a request that can neither start nor wait. */
  readonly refusal?: () => Error
}

/** A caller is alone if no other uses units or waits, or has entered for this long. */
const ALONE_AFTER_MILLISECONDS = 1_000

interface Waiting {
  readonly units: number
  /** Whether it has begun already, and precedes those that have not. */
  readonly isNext: boolean
  readonly start: () => void
}

interface CallerState {
  used: number
  /** Units that the caller may not use for now. Others may. */
  pausing: number
  readonly waiting: Waiting[]
}

const NONE = { used: 0, pausing: 0 }

/**
 * A capacity in units that callers share. What does not fit waits. Waiting callers take turns, one request of each, in
 * the next turn of the event loop. A request that does not fit does not hold up those of others.
 */
export class FairQueue {
  readonly #options: Required<Omit<QueueOptions, 'isAlone'>> & QueueOptions
  /** The callers that use units or wait, in the order of the turns. */
  readonly #callers = new Map<string, CallerState>()
  used = 0
  /** How many requests wait. */
  waiting = 0
  #isScheduled = false
  /** The caller that entered last, and when it was another one than before. */
  #last: string | undefined
  #lastChange = Number.NEGATIVE_INFINITY

  constructor(options: QueueOptions) {
    const { share, waiting = Infinity } = options
    const refusal = () => new Error('Too many requests are waiting.')
    this.#options = { shareAlone: share, waiting, waitingShare: waiting, refusal, ...options }
  }

  /** Whether no more requests (of this caller) may wait. */
  isFull(caller?: string): boolean {
    const { waiting, waitingShare } = this.#options
    if (caller === undefined) return this.waiting >= waiting
    return this.isFull() || (this.#callers.get(caller)?.waiting.length ?? 0) >= waitingShare
  }

  /** Throws the refusal if no more requests of the caller may wait. */
  admit(caller: string): void {
    if (this.isFull(caller)) throw this.#options.refusal()
  }

  /**
   * Resolves when the units are in use. `until` withdraws a waiting request.
   *
   * @throws the reason of an abort, or the refusal if the request can neither start nor wait
   */
  async enter(caller: string, units: number, until?: Abortable): Promise<Lease> {
    const taken = this.take(caller, units)
    if (taken) return taken
    this.admit(caller)
    const lease = new Lease(this, caller)
    await this.wait(lease, this.cap(units), until)
    return lease
  }

  /** Uses the units now, if they fit and no other request of the caller waits. */
  take(caller: string, units: number): Lease | undefined {
    if (caller !== this.#last) this.#lastChange = performance.now()
    this.#last = caller
    const isFirst = !this.#callers.get(caller)?.waiting.length
    return isFirst && this.fits(caller, this.cap(units)) ? this.hold(caller, units) : undefined
  }

  /** Counts units that are in use already, even if they do not fit, but at most a share. */
  hold(caller: string, units: number): Lease {
    const lease = new Lease(this, caller)
    lease.use(this.cap(units))
    return lease
  }

  /** Keeps units of a share from a caller for a time, unless it is alone, so that it does not take all of the processor. */
  pause(caller: string, units: number, milliseconds: number): void {
    if (this.isAlone(caller)) return
    const state = this.#stateOf(caller)
    const pausing = this.cap(units)
    state.pausing += pausing
    const end = () => {
      state.pausing -= pausing
      this.#forget(caller)
      this.#schedule()
    }
    setTimeout(end, milliseconds).unref()
  }

  cap(units: number): number {
    return Math.min(units, this.#options.share)
  }

  /** Starts a request when it fits, before (`isNext`) or after the others of its caller. */
  wait(lease: Lease, units: number, until?: Abortable, isNext = false): Promise<void> {
    const { caller } = lease
    const { waiting } = this.#stateOf(caller)
    return new Promise((resolve, reject) => {
      const request: Waiting = {
        units,
        isNext,
        start: () => {
          forget?.()
          lease.use(units)
          resolve()
        },
      }
      const behind = isNext ? waiting.findIndex((other) => !other.isNext) : -1
      waiting.splice(behind < 0 ? waiting.length : behind, 0, request)
      this.waiting++
      const forget = until?.onAbort((reason) => {
        this.#remove(caller, waiting, request)
        reject(reason)
      })
      this.#schedule()
    })
  }

  count(caller: string, units: number): void {
    this.used += units
    this.#stateOf(caller).used += units
    if (units > 0) return
    this.#forget(caller)
    this.#schedule()
  }

  fits(caller: string, units: number): boolean {
    const { capacity, share, shareAlone } = this.#options
    if (this.used + units > capacity) return false
    const { used, pausing } = this.#callers.get(caller) ?? NONE
    const total = used + pausing + units
    return total <= share || (total <= shareAlone && this.isAlone(caller))
  }

  isAlone(caller: string): boolean {
    const { isAlone } = this.#options
    if (isAlone) return isAlone(caller)
    const others = this.#callers.size - (this.#callers.has(caller) ? 1 : 0)
    return others === 0 && performance.now() - this.#lastChange > ALONE_AFTER_MILLISECONDS
  }

  #stateOf(caller: string): CallerState {
    const existing = this.#callers.get(caller)
    if (existing) return existing
    const state: CallerState = { ...NONE, waiting: [] }
    this.#callers.set(caller, state)
    return state
  }

  #schedule(): void {
    if (this.#isScheduled || this.waiting === 0) return
    this.#isScheduled = true
    setImmediate(() => this.#startWaiting())
  }

  #startWaiting(): void {
    this.#isScheduled = false
    for (const [caller, state] of this.#callers) {
      const [request] = state.waiting
      if (!request || !this.fits(caller, request.units)) continue
      this.#remove(caller, state.waiting, request)
      // The caller goes to the end of the order.
      this.#callers.delete(caller)
      this.#callers.set(caller, state)
      request.start()
    }
  }

  #remove(caller: string, waiting: Waiting[], request: Waiting): void {
    waiting.splice(waiting.indexOf(request), 1)
    this.waiting--
    this.#forget(caller)
  }

  #forget(caller: string): void {
    const state = this.#callers.get(caller)
    if (state?.used === 0 && state.pausing === 0 && state.waiting.length === 0) this.#callers.delete(caller)
  }
}

/** The units that a request uses. */
export class Lease {
  #units = 0
  /** One growth after the other, so that each knows what the previous one has added. */
  #growing: Promise<void> = Promise.resolve()

  constructor(
    private readonly queue: FairQueue,
    readonly caller: string,
  ) {}

  use(units: number): void {
    this.#units += units
    this.queue.count(this.caller, units)
  }

  /**
   * Resolves when more units are in use. Until they fit, it gives its own back, so that no two requests wait for each
   * other; it precedes those of its caller that have not begun.
   *
   * @throws the reason of an abort
   */
  add(units: number, until?: Abortable): Promise<void> {
    const grow = async () => {
      const more = this.queue.cap(this.#units + units) - this.#units
      if (more <= 0) return
      if (this.queue.fits(this.caller, more)) return this.use(more)
      const total = this.#units + more
      this.end()
      await this.queue.wait(this, total, until, true)
    }
    this.#growing = this.#growing.then(grow, grow)
    return this.#growing
  }

  /** Has an effect once. */
  end(): void {
    const units = this.#units
    if (units > 0) this.use(-units)
  }
}
