import type { Context } from 'koa'
import { DomainError } from '../model/errors.ts'
import type { Values } from '../model/resource.ts'
import { HAL_FORMS } from './forms.ts'

export const MEDIA_TYPES = ['application/json', 'application/hal+json', HAL_FORMS]

/**
 * Negotiates the media type of the response, before anything else is done (RFC 9110 §12.5.1).
 *
 * @throws {DomainError} NOT_ACCEPTABLE (406)
 */
export function negotiate(ctx: Context): void {
  ctx.vary('Accept')
  const type = acceptable(ctx, ...MEDIA_TYPES)
  if (!type) throw new DomainError('NOT_ACCEPTABLE', `Supported media types: ${MEDIA_TYPES.join(', ')}.`)
  ctx.state['mediaType'] = type
}

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

export function respond(ctx: Context, status: number, document: object): void {
  const type = ctx.state['mediaType'] as string
  const isPlain = type === 'application/json'
  ctx.status = status
  ctx.set('Content-Type', isPlain ? `${type}; charset=utf-8` : type)
  ctx.body = JSON.stringify(isPlain ? document : withoutNullLinks(document))
}

/** Whether a response has templates. They depend on the scopes, so the response varies with the token. */
export function hasTemplates(ctx: Context): boolean {
  const isForms = ctx.state['mediaType'] === HAL_FORMS
  if (isForms) ctx.vary('Authorization')
  return isForms
}

/** Omits null links, which HAL clients would mistake for links; `application/json` has them (SPEC §2.2). */
export function withoutNullLinks(document: object): object {
  const { _links: links } = document as { _links: Values }
  return {
    ...document,
    _links: Object.fromEntries(Object.entries(links).filter(([, link]) => link !== null)),
  }
}

/**
 * Whether a browser opens the URL as a page: without a token, and preferring HTML to JSON. For requests with a token,
 * HTML is not acceptable (406).
 */
export function prefersPage(ctx: Context): boolean {
  const isRead = ctx.method === 'GET' || ctx.method === 'HEAD'
  if (!isRead || ctx.get('Authorization') !== '' || !ctx.get('Accept').includes('text/html')) return false
  return acceptable(ctx, ...MEDIA_TYPES, 'text/html') === 'text/html'
}
