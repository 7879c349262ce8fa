import type { Context } from 'koa'
import { DomainError } from '../domain/model/errors.ts'
import type { Values } from '../domain/model/resource.ts'
import type { Address } from '../domain/store.ts'
import { Addresses } from './urls.ts'

/** What the handlers of every resource follow. */
export interface RestSettings {
  readonly namespace: string
  readonly version: string
  /** The origin put in links; undefined for that of the request. */
  readonly publicBaseUrl: string | undefined
  readonly maximumPageSize: number
}

/** Answers one kind of request. */
export type Handler = (ctx: Context) => Promise<void>

const MEDIA_TYPES = ['application/json', 'application/hal+json']

/** The address that the path of the request names. */
export function addressOfRequest(ctx: Context): Address {
  const { parentId, id } = ctx['params'] as { parentId?: string; id?: string }
  return { parentId, id: id ?? (parentId as string) }
}

/** The addresses as this caller sees them. */
export function addressesFor(ctx: Context, { publicBaseUrl, namespace, version }: RestSettings): Addresses {
  return new Addresses(`${publicBaseUrl ?? `${ctx.protocol}://${ctx.host}`}/${namespace}/${version}`)
}

/**
 * Settles the media type of the answer, before anything is done (RFC 9110 §12.5.1).
 *
 * @throws {DomainError} NOT_ACCEPTABLE (406)
 */
export function negotiate(ctx: Context): void {
  ctx.vary('Accept')
  const type = ctx.accepts(...MEDIA_TYPES)
  if (!type) throw new DomainError('NOT_ACCEPTABLE', `The answer is ${MEDIA_TYPES.join(' or ')}.`)
  ctx.state['mediaType'] = type
}

/**
 * Answers with a document. `application/json` shows a link that is not there as null (SPEC §2.2);
 * in `application/hal+json` it is left out, since HAL clients take a null for a link.
 */
export function respond(ctx: Context, status: number, document: object): void {
  const type = ctx.state['mediaType'] as string
  const isHal = type === 'application/hal+json'
  ctx.status = status
  ctx.set('Content-Type', isHal ? type : `${type}; charset=utf-8`)
  ctx.body = JSON.stringify(isHal ? withoutNullLinks(document) : document)
}

function withoutNullLinks(document: object): object {
  const { _links: links } = document as { _links: Values }
  return {
    ...document,
    _links: Object.fromEntries(Object.entries(links).filter(([, link]) => link !== null)),
  }
}
