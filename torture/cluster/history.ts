/** A write of a species: the mark that all its members repeat, or null for a deletion. */
interface Write {
  readonly mark: string | null
  /** When it was acknowledged, or first seen. */
  doneAt?: number
}

/**
 * What the only writer of a species knows of it. The first state is its absence.
 *
 * A write that was not acknowledged may have happened, until a later one is acknowledged or the writer has seen
 * the state before it.
 */
export class History {
  readonly #writes: Write[] = [{ mark: null, doneAt: Number.NEGATIVE_INFINITY }]

  constructor(readonly id: string) {}

  /** The state after the last write that is known to have happened. */
  get mark(): string | null {
    return this.#writes[this.#known(Number.POSITIVE_INFINITY)]?.mark ?? null
  }

  /** Whether that is the state: no later write is uncertain. */
  get isCertain(): boolean {
    return this.#writes.at(-1)?.doneAt !== undefined
  }

  /** Records a write that is about to be sent; the result records that it happened. */
  send(mark: string | null): () => void {
    const write: Write = { mark }
    this.#writes.push(write)
    return () => {
      write.doneAt ??= performance.now()
    }
  }

  /** What the writer has read; what was uncertain is decided. Returns what is wrong with it, and goes on from it. */
  decide(found: string | null): string | undefined {
    const problem = this.check(found, performance.now(), 0)
    if (problem !== undefined) {
      this.#writes.push({ mark: found, doneAt: performance.now() })
      return problem
    }
    const known = this.#known(Number.POSITIVE_INFINITY)
    const index = this.#writes.findLastIndex(({ mark }, place) => place >= known && mark === found)
    const write = this.#writes[index] as Write
    write.doneAt ??= performance.now()
    this.#writes.splice(index + 1)
    return undefined
  }

  /**
   * What is wrong with the state that a reader has found; undefined if nothing is.
   *
   * @param since when the reader asked
   * @param lag in milliseconds, how old the state may have been then
   */
  check(found: string | null, since: number, lag: number): string | undefined {
    const allowed = this.#writes.slice(this.#known(since - lag)).map(({ mark }) => mark)
    if (allowed.includes(found)) return undefined
    return `${this.id}: ${found ?? 'absent'} instead of ${allowed.map((mark) => mark ?? 'absent').join(' or ')}`
  }

  /** The last write that was done before that time. */
  #known(time: number): number {
    return this.#writes.findLastIndex(({ doneAt }) => doneAt !== undefined && doneAt <= time)
  }
}
