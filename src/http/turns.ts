import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Middleware } from 'koa'
import { callerOf } from './auth/authenticate.ts'

/** How many requests of one caller start in a turn of the event loop, beside those of others. */
const REQUESTS_PER_TURN = 2

/** A caller is alone after so many requests in a row. */
const ALONE_AFTER_REQUESTS = 1_000

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
  return {
    remember: (ctx, next) => {
      const header = ctx.get('Authorization')
      if (!identities.has(header)) {
        if (identities.size >= MAXIMUM_CALLERS) identities.clear()
        identities.set(header, callerOf(ctx).identity)
      }
      return next()
    },
    wrap(app) {
      const started = new Map<string, number>()
      const queues = new Map<string, [IncomingMessage, ServerResponse][]>()
      let isScheduled = false
      let last = ''
      let inARow = 0
      const start = (caller: string, request: IncomingMessage, response: ServerResponse) => {
        started.set(caller, (started.get(caller) ?? 0) + 1)
        schedule()
        app(request, response)
      }
      const mayStart = (caller: string) =>
        (started.get(caller) ?? 0) < REQUESTS_PER_TURN || inARow >= ALONE_AFTER_REQUESTS
      const schedule = () => {
        if (!isScheduled) setImmediate(beginTurn)
        isScheduled = true
      }
      const beginTurn = () => {
        isScheduled = false
        started.clear()
        for (const [caller, queue] of queues) {
          while (queue.length > 0 && mayStart(caller)) {
            start(caller, ...(queue.shift() as [IncomingMessage, ServerResponse]))
          }
          if (queue.length === 0) queues.delete(caller)
        }
      }
      return (request, response) => {
        const caller = identities.get(request.headers.authorization ?? '') ?? ''
        inARow = caller === last ? inARow + 1 : 0
        last = caller
        const queue = queues.get(caller)
        if (!queue && mayStart(caller)) start(caller, request, response)
        else if (!queue) queues.set(caller, [[request, response]])
        else if (queue.length < MAXIMUM_WAITING) queue.push([request, response])
        else app(request, response)
      }
    },
  }
}
