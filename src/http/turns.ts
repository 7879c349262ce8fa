import type { RequestListener } from 'node:http'
import type { Middleware } from 'koa'
import { callerOf } from './auth/authenticate.ts'
import { Limiter } from './limiter.ts'

/** Requests of one caller that start in one turn of the event loop while there are others. */
const REQUESTS_PER_TURN = 2

/** Requests of one caller that wait, since it can pipeline any number. Further ones start at once. */
const MAXIMUM_WAITING = 1_000

const MAXIMUM_CALLERS = 1_000

export interface Turns {
  /** Remembers who sent an Authorization header. Belongs after authentication. */
  readonly remember: Middleware
  wrap(app: RequestListener): RequestListener
}

/**
 * Makes callers take turns before their requests are processed. Node reads all connections that have data in one turn of
 * the event loop; without this, the 64 connections of one caller would always precede the one of another. All requests
 * without a known token count as those of one caller.
 */
export function createTurns(): Turns {
  const identities = new Map<string, string>()
  const limiter = new Limiter({
    capacity: Infinity,
    share: Infinity,
    shareBesideOthers: REQUESTS_PER_TURN,
    waitingShare: MAXIMUM_WAITING,
  })
  return {
    remember(ctx, next) {
      const header = ctx.get('Authorization')
      if (!identities.has(header)) {
        if (identities.size >= MAXIMUM_CALLERS) identities.clear()
        identities.set(header, callerOf(ctx).identity)
      }
      return next()
    },
    wrap: (app) => (request, response) => {
      const caller = identities.get(request.headers.authorization ?? '') ?? ''
      if (limiter.isFull(caller)) return app(request, response)
      limiter.enter(caller, 1, (endTurn) => {
        setImmediate(endTurn)
        app(request, response)
      })
    },
  }
}
