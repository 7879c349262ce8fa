import type { Slot } from '../../domain/session/slot.ts'
import type { AroundOperation, Operation } from '../../graph/execution/run-operation.ts'
import type { Caller } from '../../model/access/caller.ts'
import { DomainError } from '../../model/errors.ts'
import type { Scan } from '../../model/query/list.ts'
import { type Abortable, FairQueue, type Lease, type QueueOptions } from './fair-queue.ts'
import { scannedBytes, type TableSizes } from './table-sizes.ts'
import { type Units, unitsOfBytes } from './units.ts'

/** Created once: creating an error takes a tenth of the time of a response. */
const OVERLOADED = new DomainError('SERVICE_UNAVAILABLE', 'The service is overloaded. Try again.')

const STALLED = new DomainError('SERVICE_UNAVAILABLE', 'The database does not complete writes; try again.')

/** How many requests may wait for each unit that is in use. */
const WAITING_PER_UNIT = 4

interface QueueLimits extends QueueOptions {
  readonly shareAlone: number
  /** In milliseconds after an operation arrives. */
  readonly deadline: number
}

/** What operations need to know of the database. */
export interface DatabaseLoad {
  readonly units: Units
  readonly sizes: TableSizes
  /** The connections, for statements of lists. */
  readonly lists: FairQueue
  /** The part of the connections that may write. Sessions that a write has left behind on the server use it, too. */
  readonly writes: FairQueue
  /** Whether these sessions use all of it. */
  readonly isStalled: () => boolean
}

/**
 * The queue of all operations. An operation that misses the deadline counts until it ends, although its caller already has
 * the error.
 */
export class OperationQueue {
  readonly queue: FairQueue
  running = 0
  /** The units of the bodies of requests whose operation has not begun. */
  readonly bodies = new WeakMap<Caller, Lease>()

  constructor(
    private readonly limits: QueueLimits,
    private readonly database: DatabaseLoad,
    /** Refused requests by reason. */
    readonly shed = { capacity: 0, caller_share: 0, deadline: 0 },
    /** Uses units of what all namespaces share; undefined in a service that has one. */
    private readonly shareCapacity?: (units: number, until: Abortable) => Promise<Lease>,
  ) {
    const waiting = WAITING_PER_UNIT * limits.capacity
    const waitingShare = WAITING_PER_UNIT * limits.shareAlone
    const refusal = () => {
      this.shed[this.queue.isFull() ? 'capacity' : 'caller_share']++
      return OVERLOADED
    }
    this.queue = new FairQueue({ ...limits, waiting, waitingShare, refusal })
  }

  get waiting(): number {
    return this.queue.waiting
  }

  /**
   * Runs the work of a caller when its units are free.
   *
   * @throws {DomainError} SERVICE_UNAVAILABLE (503) when too many requests wait or the work takes too long
   */
  readonly around: AroundOperation = (operation, caller, work) =>
    new Promise((resolve, reject) => {
      const slot = new LoadSlot(caller.identity, this.database)
      const timer = setTimeout(() => {
        this.shed.deadline++
        reject(slot.abort(new DomainError('SERVICE_UNAVAILABLE', 'The response took too long. Try again.')))
      }, this.limits.deadline)
      void this.#run(operation, caller, slot, work)
        .then(resolve, reject)
        .then(() => clearTimeout(timer))
    })

  async #run<Result>(
    operation: Operation,
    caller: Caller,
    slot: LoadSlot,
    work: (slot: Slot) => Promise<Result>,
  ): Promise<Result> {
    const units = this.database.units.of(operation)
    const body = this.bodies.get(caller)
    this.bodies.delete(caller)
    if (body) await body.add(units, slot)
    const lease = body ?? (await this.queue.enter(caller.identity, units, slot))
    slot.start(lease, units)
    this.running++
    let shared: Lease | undefined
    try {
      shared = await this.shareCapacity?.(units, slot)
      return await work(slot)
    } finally {
      this.running--
      shared?.end()
      lease.end()
    }
  }
}

/** The place of an operation, which counts until the operation ends. */
class LoadSlot implements Slot, Abortable {
  readonly #listeners = new Set<(reason: unknown) => void>()
  #late: DomainError | undefined
  #lease: Lease | undefined
  #units = 0

  constructor(
    private readonly caller: string,
    private readonly database: DatabaseLoad,
  ) {}

  start(lease: Lease, units: number): void {
    this.#lease = lease
    this.#units = units
  }

  /** Creating an AbortSignal would take longer than creating the slot. */
  onAbort(listener: (reason: unknown) => void): () => void {
    if (this.#late) listener(this.#late)
    else this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  throwIfLate(): void {
    if (this.#late) throw this.#late
  }

  abort(late: DomainError): DomainError {
    this.#late = late
    for (const listener of this.#listeners) listener(late)
    return late
  }

  async need(units: number): Promise<void> {
    const more = units - this.#units
    this.#units = Math.max(units, this.#units)
    if (more > 0) await this.#lease?.add(more, this)
  }

  async read<Result>(scans: readonly Scan[], work: () => Promise<Result>): Promise<Result> {
    const { caller, database } = this
    const isScan = scans.length > 0 && unitsOfBytes(await scannedBytes(database.sizes, scans)) > 0
    const lease = await database.lists.enter(caller, 1, this)
    const started = performance.now()
    return during(lease, work).finally(() => {
      // A scan takes a core of the database, so beside others, a caller scans for half of the time.
      if (isScan) database.lists.pause(caller, 1, performance.now() - started)
    })
  }

  /** Throws SERVICE_UNAVAILABLE (503) at once while earlier writes do not end. */
  async write<Result>(work: () => Promise<Result>): Promise<Result> {
    const { isStalled, writes } = this.database
    if (isStalled()) throw STALLED
    return during(await writes.enter('', 1, this), work)
  }
}

async function during<Result>(lease: Lease, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } finally {
    lease.end()
  }
}
