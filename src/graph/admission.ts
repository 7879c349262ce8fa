import { DomainError } from '../domain/errors.ts'

/** How much work the service takes on. */
export interface AdmissionLimits {
  /** Operations that run at the same time. */
  readonly concurrent: number
  /** Operations that may wait for their turn. */
  readonly waiting: number
  /** In milliseconds, from the moment an operation arrives. */
  readonly deadline: number
}

/**
 * What whoever comes when there is no room is told (503). Made once: it is thrown when there is no time to
 * lose, and to make an error is a tenth of an answer.
 */
export const FULL = new DomainError(
  'SERVICE_UNAVAILABLE',
  'The service has more to do than it can; try again.',
)

/**
 * Lets operations run: a bounded number at once, a bounded number waiting, none longer than the
 * deadline. Beyond that it refuses at once, since work that nobody waits for any more only delays the
 * rest. An operation that its caller was told is late goes on, and keeps its place, until it ends.
 */
export class Admission {
  readonly #limits: AdmissionLimits
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(limits: AdmissionLimits) {
    this.#limits = limits
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Whether there is no room for one more. */
  get isFull(): boolean {
    const { concurrent, waiting } = this.#limits
    return this.#running >= concurrent && this.#waiting.length >= waiting
  }

  /**
   * Runs work when its turn comes. The signal is aborted when nobody waits for it any more.
   *
   * @throws {DomainError} SERVICE_UNAVAILABLE (503) when there is no room or it takes too long
   */
  async run<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    if (this.isFull) throw FULL
    let timer: NodeJS.Timeout | undefined
    const late = new AbortController()
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const error = new DomainError('SERVICE_UNAVAILABLE', 'The answer took too long; try again.')
        late.abort(error)
        reject(error)
      }, this.#limits.deadline)
    })
    const result = this.#turn().then(async () => {
      try {
        late.signal.throwIfAborted()
        return await work(late.signal)
      } finally {
        this.#leave()
      }
    })
    // After the deadline nobody listens to it.
    result.catch(() => {})
    return Promise.race([result, deadline]).finally(() => clearTimeout(timer))
  }

  async #turn(): Promise<void> {
    if (this.#running < this.#limits.concurrent) {
      this.#running++
      return
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** The place goes to the next one who waits, if there is one. */
  #leave(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#running--
  }
}
