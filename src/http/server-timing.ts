import type { Middleware } from 'koa'
import { currentTimings, Timings, withTimings } from '../observability/observation.ts'

/** Tells in every answer where its time went (W3C Server Timing). */
export const serverTiming: Middleware = async (ctx, next) => {
  const timings = new Timings()
  await withTimings(timings, next)
  const { auth, graphql, database, statements } = timings
  const metrics = [
    `auth;dur=${auth.toFixed(2)}`,
    `graphql;dur=${graphql.toFixed(2)}`,
    `database;dur=${database.toFixed(2)};desc="${statements} ${statements === 1 ? 'statement' : 'statements'}"`,
  ]
  ctx.set('Server-Timing', metrics.join(', '))
}

/** Times a layer up to where it hands on. */
export function timedAuthentication(authenticate: Middleware): Middleware {
  return (ctx, next) => {
    const timings = currentTimings()
    if (!timings) return authenticate(ctx, next)
    const started = performance.now()
    return authenticate(ctx, () => {
      timings.auth = performance.now() - started
      return next()
    })
  }
}
