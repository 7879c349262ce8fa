import { randomUUID } from 'node:crypto'
import type { Middleware } from 'koa'

/** Gives every request an id, which its answer carries and the log names. */
export const requestId: Middleware = async (ctx, next) => {
  ctx.state['requestId'] = randomUUID()
  ctx.set('X-Request-Id', ctx.state['requestId'])
  await next()
}
