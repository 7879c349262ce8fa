import { randomUUID } from 'node:crypto'
import type { Middleware } from 'koa'

const ACCEPTED = /^[A-Za-z0-9._-]{8,64}$/

/**
 * Gives every request an id, which its answer carries and the log names. Only a proxy that is trusted may
 * bring one along: a stranger's would let him mix up the log.
 */
export function requestId(trustProxy: boolean): Middleware {
  return async (ctx, next) => {
    const brought = trustProxy ? ctx.get('X-Request-Id') : ''
    ctx.state['requestId'] = ACCEPTED.test(brought) ? brought : randomUUID()
    ctx.set('X-Request-Id', ctx.state['requestId'])
    await next()
  }
}
