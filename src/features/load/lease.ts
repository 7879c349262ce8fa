/** Work that can be given up. */
export interface Abortable {
  /** Returns a function that removes the listener. */
  onAbort(listener: (reason: unknown) => void): () => void
}

/** What a lease needs of its queue. */
export interface UnitQueue {
  cap(units: number): number
  fits(caller: string, units: number): boolean
  count(caller: string, units: number): void
  wait(lease: Lease, units: number, until: Abortable | undefined, isNext: boolean): Promise<void>
}

/** The units that a request uses. */
export class Lease {
  #units = 0
  /** One growth after the other, so that each knows what the previous one has added. */
  #growing: Promise<void> = Promise.resolve()

  constructor(
    private readonly queue: UnitQueue,
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
    const grow = () => this.#grow(units, until)
    const growing = this.#growing.then(grow, grow)
    this.#growing = growing
    return growing
  }

  async #grow(units: number, until: Abortable | undefined): Promise<void> {
    const more = this.queue.cap(this.#units + units) - this.#units
    if (more <= 0) return
    if (this.queue.fits(this.caller, more)) return this.use(more)
    const total = this.#units + more
    this.end()
    await this.queue.wait(this, total, until, true)
  }

  /** Has an effect once. */
  end(): void {
    const units = this.#units
    if (units > 0) this.use(-units)
  }
}
