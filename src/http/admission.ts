import cluster from 'node:cluster'
import type { RequestListener } from 'node:http'
import { finished } from 'node:stream'
import { LRUCache } from 'lru-cache'
import { RateLimiterCluster, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { callerOf } from './auth/authenticate.ts'
import type { Context, Middleware } from './context.ts'
import { HttpError } from './errors.ts'
import { bodyBytes } from './json.ts'
import { Limiter } from './limiter.ts'

/** Requests of one caller that start in one turn of the event loop while there are other callers. */
const REQUESTS_PER_TURN = 2

/** Requests of one caller that wait: it can pipeline any number. Further requests start at once. */
const MAXIMUM_WAITING = 1_000

const MAXIMUM_CALLERS = 1_000

/**
 * Makes callers take turns. Node reads all connections that have data in one turn of the event loop, so otherwise the 64
 * connections of one caller would always precede the single one of another. All requests without a known token count as
 * those of one caller.
 */
export function createTurns() {
  const identities = new LRUCache<string, string>({ max: MAXIMUM_CALLERS })
  const limiter = new Limiter({
    capacity: Infinity,
    share: Infinity,
    shareBesideOthers: REQUESTS_PER_TURN,
    waitingShare: MAXIMUM_WAITING,
  })
  /** Remembers the caller of an Authorization header. Must run after authentication. */
  const remember: Middleware = (ctx, next) => {
    identities.set(ctx.get('Authorization'), callerOf(ctx).identity)
    return next()
  }
  function wrap(app: RequestListener): RequestListener {
    return (request, response) => {
      const caller = identities.get(request.headers.authorization ?? '') ?? ''
      if (limiter.isFull(caller)) return app(request, response)
      limiter.enter(caller, 1, (endTurn) => {
        setImmediate(endTurn)
        app(request, response)
      })
    }
  }
  return { remember, wrap }
}

export interface Load {
  /** @throws {DomainError} SERVICE_UNAVAILABLE (503) when there is no room for a request of this caller */
  admit(caller: string): void
  /** Counts a response until it is released. */
  holdResponse(caller: string, bytes: number): () => void
  /**
   * Waits until the caller may send another large body. It counts until it is released.
   *
   * @throws {DomainError} SERVICE_UNAVAILABLE (503) when too many bodies wait
   */
  startBody(caller: string): Promise<() => void>
}

/** In bytes. Smaller responses fit into the buffers of the operating system. */
const SMALL_RESPONSE = 16 * 1024

/** In bytes. Reading a smaller body takes about as long as reading a resource. */
const SMALL_BODY = 16 * 1024

/**
 * Responses and bodies, even refused ones, continue to count for a time. At 6 MB a second, the large responses of one
 * caller take only part of the processor.
 */
const BYTES_PER_MILLISECOND = 6_000

/**
 * Counts bytes that a response keeps in memory until they are sent, and for a time after that.
 *
 * @returns what to call when they are sent, or no longer kept
 */
export function holdResponse(ctx: Context, bytes: number): () => void {
  const release = ctx.state.holdResponse?.(bytes)
  return () => void setTimeout(() => release?.(), bytes / BYTES_PER_MILLISECOND).unref()
}

/** Refuses requests beyond the capacity or the share of their caller, and counts large responses and bodies. */
export function shedLoad(load: Load): Middleware {
  return async (ctx, next) => {
    const { identity } = callerOf(ctx)
    load.admit(identity)
    ctx.state.holdResponse = (bytes) => load.holdResponse(identity, bytes)
    // The length of a chunked body is not known before its end.
    const isLarge = ctx.get('Transfer-Encoding') !== '' || (ctx.request.length ?? 0) > SMALL_BODY
    const endBody = isLarge ? await load.startBody(identity) : undefined
    try {
      await next()
    } finally {
      if (endBody) setTimeout(endBody, bodyBytes(ctx) / BYTES_PER_MILLISECOND).unref()
    }
    const bytes = ctx.length ?? 0
    if (bytes > SMALL_RESPONSE) finished(ctx.res, holdResponse(ctx, bytes))
  }
}

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
    const state = await consume(callerOf(ctx).identity)
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
