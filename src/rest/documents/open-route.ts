import type { Context } from 'koa'

/** Answers GET where no token is needed. */
export type OpenHandler = (ctx: Context) => void | Promise<void>

/** A path, to the letter, and what answers there. */
export type OpenRoute = readonly [path: string, handler: OpenHandler]

/** Sends a document that is JSON already. */
export function sendJson(ctx: Context, json: string): void {
  ctx.set('Content-Type', 'application/json; charset=utf-8')
  ctx.body = json
}
