import type { Middleware } from 'koa'
import helmet from 'koa-helmet'

/**
 * The headers that keep a browser from doing anything with an answer but read it. Scripts of other
 * origins may read it, by CORS.
 */
export function securityHeaders(): Middleware {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    xFrameOptions: { action: 'deny' },
  }) as Middleware
}

/**
 * Says what may be kept (RFC 9111 §5.2): an answer with an entity tag by its caller alone, who asks each
 * time whether it still holds; anything else by nobody.
 */
export const cacheControl: Middleware = async (ctx, next) => {
  await next()
  if (ctx.response.get('Cache-Control')) return
  const isReading = ctx.method === 'GET' || ctx.method === 'HEAD'
  const isValidated = isReading && ctx.status < 400 && ctx.response.get('ETag')
  ctx.set('Cache-Control', isValidated ? 'private, no-cache' : 'no-store')
}
