import type { IsReady } from '../http/health.ts'

const TIMEOUT_MILLISECONDS = 1_000

/**
 * Creates the readiness check: the service is not stopping, and the database responds within a second.
 * Concurrent checks share one query.
 */
export function createReadiness(check: () => Promise<unknown>, isStopping: () => boolean): IsReady {
  let pending: Promise<boolean> | undefined
  return async () => {
    if (isStopping()) return false
    pending ??= respondsInTime(check).finally(() => {
      pending = undefined
    })
    return (await pending) && !isStopping()
  }
}

function respondsInTime(check: () => Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), TIMEOUT_MILLISECONDS)
    check()
      .then(
        () => resolve(true),
        () => resolve(false),
      )
      .finally(() => clearTimeout(timer))
  })
}
