import type { Outcome } from '../../test/helpers/load/load.ts'
import type { History } from './history.ts'

/** Everything that was observed. */
export interface Observations {
  /** By id, of the species that one writer each writes. */
  readonly histories: ReadonlyMap<string, History>
  /** The scientific names of what was created with an idempotency key. */
  readonly created: readonly string[]
  readonly statuses: ReadonlyMap<string, number>
  readonly problems: readonly string[]
  readonly acknowledged: number
  /** How many writes are sent and not answered. */
  readonly writing: number
  /** In milliseconds, the slowest response. */
  readonly slowest: number
  /** When a write was last acknowledged, and when a request was last refused with 503. */
  readonly writtenAt: number
  readonly refusedAt: number
}

/** Collects what the callers observe. */
export class Observer implements Observations {
  readonly histories = new Map<string, History>()
  readonly created: string[] = []
  statuses = new Map<string, number>()
  problems: string[] = []
  acknowledged = 0
  writing = 0
  slowest = 0
  writtenAt = 0
  refusedAt = 0
  /** The representation of each entity tag. */
  readonly #representations = new Map<string, string>()

  reset(): void {
    this.statuses = new Map()
    this.problems = []
    this.acknowledged = 0
    this.slowest = 0
  }

  note(outcome: Outcome, milliseconds: number): void {
    this.slowest = Math.max(this.slowest, milliseconds)
    const status = outcome.kind === 'answered' ? String(outcome.status) : outcome.kind
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    if (status === '503') this.refusedAt = performance.now()
  }

  acknowledge(): void {
    this.acknowledged++
    this.writtenAt = performance.now()
  }

  object(problem: string | undefined): void {
    if (problem !== undefined) this.problems.push(`${new Date().toISOString()} ${problem}`)
  }

  /** The same entity tag always means the same representation. */
  compareTag(tag: string, body: string): void {
    const known = this.#representations.get(tag) ?? body
    if (known !== body) this.object(`the entity tag ${tag} has meant ${known} and ${body}`)
    this.#representations.set(tag, body)
  }
}
