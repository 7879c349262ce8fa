import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../database/database.ts'
import type { IsReady } from '../http/health.ts'

const TIMEOUT_MILLISECONDS = 1_000

/** The service is ready if it is not stopping and the database responds in time. Concurrent checks share one query. */
export function createReadiness(
  database: Pick<Database, 'check'>,
  state: { readonly isStopping: boolean },
): IsReady {
  let pending: Promise<boolean> | undefined
  return async () => {
    if (state.isStopping) return false
    pending ??= respondsInTime(database).finally(() => {
      pending = undefined
    })
    return (await pending) && !state.isStopping
  }
}

function respondsInTime(database: Pick<Database, 'check'>): Promise<boolean> {
  const responds = database.check().then(
    () => true,
    () => false,
  )
  return Promise.race([responds, delay(TIMEOUT_MILLISECONDS, false, { ref: false })])
}
