import type { Context } from 'koa'
import { DomainError } from '../model/errors.ts'
import { type Handler, type Route, reads } from './routes.ts'

/** Whether the service can be used now. Never throws. */
export type IsReady = () => Promise<boolean>

/**
 * /health/live: the process responds. /health/ready: it accepts requests, since its database responds and it is not
 * stopping; otherwise 503. Neither counts as load.
 */
export function healthRoutes(isReady: IsReady): Route[] {
  return [
    probe('/health/live', (ctx) => {
      respondWith(ctx, 'live')
    }),
    probe('/health/ready', async (ctx) => {
      if (!(await isReady())) throw new DomainError('SERVICE_UNAVAILABLE', 'The service is not ready.')
      respondWith(ctx, 'ready')
    }),
  ]
}

/** For an object body, Koa checks `instanceof Response`, which makes Node load its `fetch`. */
function respondWith(ctx: Context, status: string): void {
  ctx.type = 'json'
  ctx.body = JSON.stringify({ status })
}

function probe(path: string, handle: Handler): Route {
  return { path, access: 'probe', methods: reads({ handle }) }
}
