import cluster from 'node:cluster'
import { RateLimiterCluster, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { callerOf } from '../../http/auth/authenticate.ts'
import type { Middleware } from '../../http/context.ts'
import { HttpError } from '../../http/errors.ts'
import { namespaceOf } from '../../model/access/caller.ts'

const WINDOW_SECONDS = 60

/** How long a worker waits for the process that counts for all workers. */
const COUNT_MILLISECONDS = 1_000

/**
 * Limits the requests of each caller per minute, over all workers. Responses have the fields of
 * draft-ietf-httpapi-ratelimit-headers.
 *
 * @throws {DomainError} TOO_MANY_REQUESTS (429)
 */
export function limitRate(requestsPerMinute: number): Middleware {
  const consume = createCounter(requestsPerMinute)
  return async (ctx, next) => {
    const caller = callerOf(ctx)
    const state = await consume(`${namespaceOf(caller).name} ${caller.identity}`)
    const seconds = Math.ceil(state.msBeforeNext / 1000)
    ctx.set('RateLimit-Policy', `"caller";q=${requestsPerMinute};w=${WINDOW_SECONDS}`)
    ctx.set('RateLimit', `"caller";r=${state.remainingPoints};t=${seconds}`)
    if (state.consumedPoints <= requestsPerMinute) return next()
    const message = `Only ${requestsPerMinute} requests per minute are allowed.`
    throw new HttpError('TOO_MANY_REQUESTS', message, { 'Retry-After': String(seconds) })
  }
}

/** If the process that counts for all workers does not respond, a worker counts alone. */
function createCounter(points: number): (key: string) => Promise<RateLimiterRes> {
  const options = { points, duration: WINDOW_SECONDS }
  const own = new RateLimiterMemory(options)
  const count = (key: string) => own.consume(key).catch(refused)
  if (!cluster.isWorker) return count
  const shared = new RateLimiterCluster({ ...options, keyPrefix: 'caller', timeoutMs: COUNT_MILLISECONDS })
  return (key) =>
    shared
      .consume(key)
      .catch(refused)
      .catch(() => count(key))
}

/** Beyond the limit, the library rejects with the state instead of an error. */
function refused(refusal: unknown): RateLimiterRes {
  if (refusal instanceof RateLimiterRes) return refusal
  throw refusal
}
