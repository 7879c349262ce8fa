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

  /**
   * Throws when there is no room for one more, and is silent otherwise.
   *
   * @throws {DomainError} SERVICE_UNAVAILABLE (503)
   */
  refuseWhenFull(): void {
    const { concurrent, waiting } = this.#limits
    if (this.#running < concurrent || this.#waiting.length < waiting) return
    throw new DomainError('SERVICE_UNAVAILABLE', 'The service has more to do than it can; try again.')
  }

  /**
   * Runs work when its turn comes.
   *
   * @throws {DomainError} SERVICE_UNAVAILABLE (503) when there is no room or it takes too long
   */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    this.refuseWhenFull()
    let timer: NodeJS.Timeout | undefined
    let isLate = false
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        isLate = true
        reject(new DomainError('SERVICE_UNAVAILABLE', 'The answer took too long; try again.'))
      }, this.#limits.deadline)
    })
    const result = this.#turn().then(async () => {
      try {
        if (isLate) return undefined as never
        return await work()
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
