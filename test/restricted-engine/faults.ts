import { Random } from '../helpers/access/random.ts'

/** The statement that sets up a session of the service (src/database/session.ts). Tests do not repeat their own statements. */
export const SET_UP = /\bset_config\(.*;COMMIT$/s

/** How often an engine ends what it could have done, from 0 to 1. */
export interface FaultRates {
  readonly seed: number
  /** Of statements that read or write rows. */
  readonly aborts: number
  /** Of COMMIT, which undoes the transaction. */
  readonly refusedCommits: number
  /** Of COMMIT, whose connection closes: half of these transactions are committed. */
  readonly lostCommits: number
}

/** PostgreSQL, appendix A: serialization_failure and deadlock_detected. */
export const ABORTS = ['40001', '40P01'] as const

export type CommitFault = 'refused' | 'lost before' | 'lost after'

/** Which statements and commits fail; the same for the same seed, in the same order. */
export class Faults {
  readonly #random: Random

  constructor(readonly rates: FaultRates) {
    this.#random = new Random(rates.seed)
  }

  /** The SQLSTATE that ends a statement; undefined if it goes on. */
  ofStatement(): string | undefined {
    return this.#random.chance(this.rates.aborts) ? this.#random.pick(ABORTS) : undefined
  }

  ofCommit(): CommitFault | undefined {
    const { refusedCommits, lostCommits } = this.rates
    if (this.#random.chance(refusedCommits)) return 'refused'
    if (!this.#random.chance(lostCommits)) return undefined
    return this.#random.pick(['lost before', 'lost after'])
  }
}
