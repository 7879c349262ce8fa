import type { RequestListener } from 'node:http'
import type { Middleware } from 'koa'
import { callerOf } from './auth/authenticate.ts'
import { Limiter } from './limiter.ts'

/** How many requests of one caller start in a turn of the event loop, beside those of others. */
const REQUESTS_PER_TURN = 2

/** How many requests of one caller wait; pipelined ones could be any number. Others start at once. */
const MAXIMUM_WAITING = 1_000

/** How many tokens are remembered. */
const MAXIMUM_CALLERS = 1_000

/** Lets callers take turns. */
export interface Turns {
  /** Remembers who sends an Authorization header; belongs behind authentication. */
  readonly remember: Middleware
  wrap(app: RequestListener): RequestListener
}

/**
 * Makes callers take turns before their requests are looked at. Node reads all connections that have data in one
 * turn of the event loop; without this, the 64 connections of one caller would come before the one of another, again
 * and again. Requests without a known token are those of one caller.
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
