import { setTimeout as delay } from 'node:timers/promises'
import type { Patience } from '../database/connection.ts'
import { DomainError } from '../model/errors.ts'

const PAUSE_MILLISECONDS = 250

/** Does what a start needs of the database, and repeats it while the database does not answer, as long as a start waits. */
export async function whenAnswered<Result>(
  patience: Patience | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  const until = performance.now() + (patience?.seconds ?? 0) * 1_000
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const isUnanswered = error instanceof DomainError && error.code === 'SERVICE_UNAVAILABLE'
      if (!isUnanswered || performance.now() >= until) throw error
      await delay(PAUSE_MILLISECONDS)
    }
  }
}
