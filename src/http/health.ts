import type { Context, Middleware } from 'koa'
import { DomainError } from '../domain/model/errors.ts'
import { methodNotAllowed } from './errors.ts'

/** Whether the service can be used right now. Never throws. */
export type IsReady = () => Promise<boolean>

/**
 * /health/live says that the process answers, /health/ready that requests can be sent to it: its database
 * answers and it is not about to stop. Open to everyone, and not counted as load.
 *
 * @throws {DomainError} SERVICE_UNAVAILABLE (503) when it is not ready
 */
export function serveHealth(isReady: IsReady): Middleware {
  return async (ctx, next) => {
    if (ctx.path === '/health/live') return answer(ctx, 'live')
    if (ctx.path !== '/health/ready') return next()
    ctx.state['route'] = ctx.path
    if (!(await isReady())) throw new DomainError('SERVICE_UNAVAILABLE', 'The service is not ready.')
    answer(ctx, 'ready')
  }
}

function answer(ctx: Context, status: string): void {
  ctx.state['route'] = ctx.path
  ctx.set('Cache-Control', 'no-store')
  refuseOtherMethods(ctx)
  ctx.type = 'application/json'
  ctx.body = JSON.stringify({ status })
}

/** @throws {DomainError} METHOD_NOT_ALLOWED (405) for what does not read */
export function refuseOtherMethods(ctx: Context): void {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return
  throw methodNotAllowed(ctx.method, { Allow: 'GET, HEAD' })
}
