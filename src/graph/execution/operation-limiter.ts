import type { Load } from '../../http/admission.ts'
import { type Abortable, Limiter, type Release } from '../../http/limiter.ts'
import { DomainError } from '../../model/errors.ts'

interface OperationLimits {
  readonly concurrent: number
  readonly waiting: number
  /** In milliseconds after an operation arrives. */
  readonly deadline: number
  /** In bytes, of all responses that are being built or sent. */
  readonly responses: number
  /** The part of each of these limits that one caller may use, from 0 to 1. */
  readonly callerShare: number
}

/** Created once: creating an error takes a tenth of the time of a response. */
const OVERLOADED = new DomainError('SERVICE_UNAVAILABLE', 'The service is overloaded. Try again.')

/**
 * The part of its share that a caller uses beside others. Its work in a turn of the event loop delays all others: 32
 * look-ups by 6 ms.
 */
const PART_BESIDE_OTHERS = 0.125

/** Large bodies that a caller with a share of 100 % may send at once. 9,000 members take 6 ms. */
const BODIES = 4

/** In bytes. Smaller responses need no reservation: those of all operations take a few megabytes. */
const SMALL_RESPONSE = 64 * 1024

/**
 * Limits how many operations run and wait, in total and for each caller, and how long each takes. Refuses others
 * immediately. An operation that misses the deadline counts until it ends, although its caller already has the error.
 */
export class OperationLimiter implements Load {
  readonly #deadline: number
  readonly #operations: Limiter
  readonly #responses: Limiter
  readonly #bodies: Limiter
  readonly #writeAmount: number
  #running = 0
  /** Refused requests by reason. */
  readonly shed = { capacity: 0, caller_share: 0, deadline: 0 }

  constructor({ concurrent, waiting, deadline, responses, callerShare }: OperationLimits) {
    const share = (whole: number) => Math.ceil(whole * callerShare)
    const queue = { waiting, waitingShare: share(waiting), refusal: () => this.#refuse() }
    const shareBesideOthers = callerShare < 1 ? Math.ceil(share(concurrent) * PART_BESIDE_OTHERS) : concurrent
    this.#deadline = deadline
    this.#writeAmount = callerShare < 1 ? shareBesideOthers : 1
    const operations = { capacity: concurrent, share: share(concurrent), shareBesideOthers }
    this.#operations = new Limiter({ ...queue, ...operations })
    this.#bodies = new Limiter({ ...queue, capacity: concurrent, share: share(BODIES) })
    this.#responses = new Limiter({ capacity: responses, share: share(responses) })
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#operations.waiting
  }

  /** Refuses a request whose operation could neither start nor wait. */
  admit(caller: string): void {
    if (this.#operations.isFull(caller)) throw this.#refuse()
  }

  holdResponse(caller: string, bytes: number): Release {
    return this.#responses.hold(caller, bytes)
  }

  startBody(caller: string): Promise<Release> {
    return this.#bodies.acquire(caller, 1)
  }

  /**
   * Runs the work of a caller when a slot is free. A write takes all slots that a caller has beside others: it keeps the
   * process and the database busy in turn, so several writes of a caller would delay others as much as a full queue.
   *
   * @throws {DomainError} SERVICE_UNAVAILABLE (503) when the limits are reached or the work takes too long
   */
  run<Result>(caller: string, work: (slot: Slot) => Promise<Result>, isWrite = false): Promise<Result> {
    const slot = new Slot(caller, this.#responses)
    const runInSlot = async () => {
      const release = await this.#operations.acquire(caller, isWrite ? this.#writeAmount : 1, slot)
      this.#running++
      try {
        return await work(slot)
      } finally {
        this.#running--
        slot.release()
        release()
      }
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.shed.deadline++
        reject(slot.abort(new DomainError('SERVICE_UNAVAILABLE', 'The response took too long. Try again.')))
      }, this.#deadline)
      void runInSlot()
        .then(resolve, reject)
        .then(() => clearTimeout(timer))
    })
  }

  #refuse(): DomainError {
    this.shed[this.#operations.isFull() ? 'capacity' : 'caller_share']++
    return OVERLOADED
  }
}

/** The place of an operation, which counts towards the limits until the operation ends. */
export class Slot implements Abortable {
  readonly #listeners = new Set<(reason: unknown) => void>()
  #late: DomainError | undefined
  release: Release = () => {}

  constructor(
    private readonly caller: string,
    private readonly responses: Limiter,
  ) {}

  /** Creating an AbortSignal would take longer than creating the slot. */
  onAbort(listener: (reason: unknown) => void): () => void {
    if (this.#late) listener(this.#late)
    else this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** @throws {DomainError} SERVICE_UNAVAILABLE (503) after the deadline */
  throwIfLate(): void {
    if (this.#late) throw this.#late
  }

  abort(late: DomainError): DomainError {
    this.#late = late
    for (const listener of this.#listeners) listener(late)
    return late
  }

  /** Waits until there is memory for the response, which has this size. It is released when the operation ends. */
  async reserve(bytes: number): Promise<void> {
    if (bytes > SMALL_RESPONSE) this.release = await this.responses.acquire(this.caller, bytes, this)
  }
}
