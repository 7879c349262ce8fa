import type { IsReady } from './http/health.ts'

const ANSWER_MILLISECONDS = 1_000

/**
 * Makes the check of readiness: not stopping, and the database answers within a second. However many ask
 * at once, the database is asked once.
 */
export function createReadiness(ask: () => Promise<unknown>, isStopping: () => boolean): IsReady {
  let asking: Promise<boolean> | undefined
  return async () => {
    if (isStopping()) return false
    asking ??= answersInTime(ask).finally(() => {
      asking = undefined
    })
    return (await asking) && !isStopping()
  }
}

function answersInTime(ask: () => Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ANSWER_MILLISECONDS)
    ask()
      .then(
        () => resolve(true),
        () => resolve(false),
      )
      .finally(() => clearTimeout(timer))
  })
}
