import { createHash } from 'node:crypto'
import type { Context, Middleware } from 'koa'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { DomainError } from '../domain/errors.ts'
import { callerOf } from './exchange.ts'

const WINDOW_SECONDS = 60

/**
 * Lets a caller make so many requests a minute, counted in this process. A caller is the subject of the
 * token; a token without one is a caller of its own. Answers carry the fields of
 * draft-ietf-httpapi-ratelimit-headers.
 *
 * @throws {DomainError} TOO_MANY_REQUESTS (429), with Retry-After set
 */
export function limitRate(requestsPerMinute: number): Middleware {
  if (requestsPerMinute === 0) return (_, next) => next()
  const limiter = new RateLimiterMemory({ points: requestsPerMinute, duration: WINDOW_SECONDS })
  return async (ctx, next) => {
    const state = await limiter.consume(keyOf(ctx)).catch((refusal: unknown) => {
      if (refusal instanceof RateLimiterRes) return refusal
      throw refusal
    })
    const seconds = Math.ceil(state.msBeforeNext / 1000)
    ctx.set('RateLimit-Policy', `"caller";q=${requestsPerMinute};w=${WINDOW_SECONDS}`)
    ctx.set('RateLimit', `"caller";r=${state.remainingPoints};t=${seconds}`)
    if (state.consumedPoints <= requestsPerMinute) return next()
    ctx.set('Retry-After', String(seconds))
    throw new DomainError('TOO_MANY_REQUESTS', `This is more than ${requestsPerMinute} requests a minute.`)
  }
}

function keyOf(ctx: Context): string {
  const { subject } = callerOf(ctx)
  return subject === undefined
    ? createHash('sha256').update(ctx.get('Authorization')).digest('base64')
    : `subject ${subject}`
}
