import type { Context } from 'koa'

/** A parameter of a media range other than `q`; the value may be quoted (RFC 9110 §5.6.6, §12.5.1). */
const RANGE_PARAMETER = /;(?!\s*q\s*=)[^=;,"]*(?:=(?:"(?:[^"\\]|\\.)*"|[^;,]*))?/gi

/**
 * The media type that the client prefers; false if none is acceptable. Ignores parameters: for `application/json;
 * charset=utf-8`, `application/json` is acceptable, since it is always in UTF-8.
 */
export function acceptable(ctx: Context, ...types: readonly string[]): string | false {
  const { headers } = ctx
  if (headers.accept?.includes(';')) headers.accept = headers.accept.replace(RANGE_PARAMETER, '')
  return ctx.accepts(...types)
}

/** Whether Accept names the media type itself, in any case, and does not refuse it with `q=0`. */
export function asksFor(ctx: Context, type: string): boolean {
  return ctx.get('Accept').toLowerCase().includes(type) && acceptable(ctx, type) === type
}
