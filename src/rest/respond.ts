import { callerOf } from '../http/auth/authenticate.ts'
import type { Context } from '../http/context.ts'
import { link } from '../http/headers.ts'
import { acceptable } from '../http/negotiation.ts'
import type { Values } from '../model/definition/resource.ts'
import { DomainError } from '../model/errors.ts'
import { mapped } from '../model/values.ts'
import { HAL_FORMS } from './forms.ts'
import { ITEM_TYPES } from './items.ts'
import { type RestSettings, type Urls, urlsFor } from './urls.ts'

export const MEDIA_TYPES = ['application/json', 'application/hal+json', HAL_FORMS]

export const LIST_TYPES = [...MEDIA_TYPES, ...ITEM_TYPES]

/**
 * Negotiates the media type of the response (RFC 9110 §12.5.1).
 *
 * @throws {DomainError} NOT_ACCEPTABLE (406)
 */
export function negotiate(ctx: Context, types = MEDIA_TYPES): void {
  ctx.vary('Accept')
  const type = acceptable(ctx, ...types)
  if (!type) throw new DomainError('NOT_ACCEPTABLE', `Supported media types: ${types.join(', ')}.`)
  ctx.state.mediaType = type
}

/** @param embeds whether the document, or an item in it, can have embedded lists */
export function respond(ctx: Context, status: number, document: object, embeds = false): void {
  const type = ctx.state.mediaType as string
  const isPlain = type === 'application/json'
  ctx.status = status
  ctx.set('Content-Type', isPlain ? `${type}; charset=utf-8` : type)
  ctx.body = JSON.stringify(isPlain ? document : withoutNullLinks(document, embeds))
}

/** Links to the OpenAPI document (RFC 8631). */
export function linkDescription(ctx: Context, { base }: Urls): void {
  ctx.append('Link', link(`${base}/openapi.json`, 'service-desc'))
}

/** What a representation depends on besides the resource. */
export type Viewer = ReturnType<typeof viewerOf>

export function viewerOf(ctx: Context, settings: RestSettings) {
  const hasTemplates = ctx.state.mediaType === HAL_FORMS
  // Templates depend on the scopes.
  if (hasTemplates) ctx.vary('Authorization')
  return { caller: callerOf(ctx), urls: urlsFor(ctx, settings), hasTemplates }
}

/** Omits null links, which HAL clients would mistake for links; `application/json` has them (SPEC §2.2). */
export function withoutNullLinks(document: object, embeds = false): object {
  const { _links: links, _embedded: embedded } = document as { _links?: Values; _embedded?: Values }
  if (!links) return document
  const shown = { ...document, _links: mapped(links, (link) => link ?? undefined) }
  const within = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(within) : withoutNullLinks(value as object, true)
  return embeds && embedded ? { ...shown, _embedded: mapped(embedded, within) } : shown
}

/**
 * Whether a browser opens the URL as a page: it sends no token and prefers HTML to JSON. With a token, HTML is not
 * acceptable (406).
 */
export function prefersPage(ctx: Context): boolean {
  const isRead = ctx.method === 'GET' || ctx.method === 'HEAD'
  if (!isRead || ctx.get('Authorization') !== '' || !ctx.get('Accept').includes('text/html')) return false
  return acceptable(ctx, ...MEDIA_TYPES, 'text/html') === 'text/html'
}
