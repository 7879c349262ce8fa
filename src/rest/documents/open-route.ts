import type { Context } from 'koa'
import { respondWithContent, staticContent } from '../../http/static-content.ts'

/** Answers GET where no token is needed. */
export type OpenHandler = (ctx: Context) => void | Promise<void>

/** A path, to the letter, and what answers there. */
export type OpenRoute = readonly [path: string, handler: OpenHandler]

/** Answers with a document that is JSON already. */
export function sendJson(ctx: Context, json: string): void {
  respondWithContent(ctx, staticContent('.json', json))
}
