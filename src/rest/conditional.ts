import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { namesTag } from '../http/content/static-content.ts'
import type { Context } from '../http/context.ts'
import { requestHeader } from '../http/headers.ts'
import type { Resource, Values } from '../model/definition/resource.ts'
import { hasRelatedTitle } from '../model/definition/titles.ts'
import { INTEGER_RANGE } from '../model/kinds/integer.ts'
import { isUnmodifiedSince } from '../model/rows/precondition.ts'
import { TITLE } from './hal.ts'

/**
 * The strong entity tag of a resource: its identifier, which needs no quoting, and its version (RFC 9110 §8.8.3).
 *
 * @param variant distinguishes a representation from the usual one of the same version
 */
export function entityTag(id: string, version: number, variant?: string): string {
  return `"${id}:${version}${variant === undefined ? '' : `:${variant}`}"`
}

/** The weak entity tag of a page of a list (RFC 9110 §8.8.1), in the variant of {@link listVariant}. */
export function listTag(revision: string, variant: string): string {
  return `W/"${revision}.${variant}"`
}

/** Distinguishes the representations of one revision by the request and other values. */
export function listVariant(ctx: Context, more: readonly unknown[]): string {
  return crc32([ctx.path, ctx.querystring, ctx.state.mediaType, ...more].join(' ')).toString(36)
}

/** The revision that the client has in this variant (RFC 9110 §13.1.2). */
export function knownRevision(ctx: Context, variant: string): string | undefined {
  const tags = requestHeader(ctx, 'IfNoneMatchRead')?.matchAll(/"([\w-]+)\.(\w+)(?:-\w+)?"/g) ?? []
  return [...tags].find(([, , tagVariant]) => tagVariant === variant)?.[1]
}

export function contentVariant(content: string): string {
  return hash('sha256', content, 'base64url').slice(0, 22)
}

/** Distinguishes the representations with other titles of one version. */
export function titleVariant(resource: Resource, data: Values): string | undefined {
  return hasRelatedTitle(resource) ? contentVariant(String(data[TITLE])) : undefined
}

/** The preconditions of a write as GraphQL variables. If-Match takes precedence over the date (RFC 9110 §13.2.2). */
export function conditionVariables(request: Pick<Context, 'headers'>, id: string) {
  const ifMatch = requestHeader(request, 'IfMatch')
  // Of weak tags, only If-None-Match takes those of a version (RFC 9110 §13.1.2).
  const ifNoneMatch = requestHeader(request, 'IfNoneMatchWrite')?.replaceAll('W/', '')
  const unlessVersion = ifNoneMatch === undefined ? undefined : versionsIn(ifNoneMatch, id)
  return {
    ...(ifMatch === undefined
      ? { ifUnmodifiedSince: httpDate(requestHeader(request, 'IfUnmodifiedSince')) }
      : { ifVersion: versionsIn(ifMatch, id) }),
    unlessVersion,
    ...(ifNoneMatch !== undefined && !unlessVersion && { unlessExists: true }),
  }
}

/**
 * The key that makes a POST safe to repeat (draft-ietf-httpapi-idempotency-key-header): a quoted string or, as most
 * clients send it, without quotes.
 */
export function idempotencyKeyOf(request: Pick<Context, 'headers'>): string | undefined {
  return requestHeader(request, 'IdempotencyKey')
    ?.trim()
    .replace(/^"(.*)"$/, '$1')
}

export function describeVersion(ctx: Context, headers: Readonly<Record<string, string>>): void {
  ctx.set(headers)
  ctx.state.isVersioned = true
}

/** The headers that a later conditional request needs (RFC 9110 §8.8). */
export function stateHeaders({ id, version, last_updated }: Values, variant?: string) {
  return {
    ETag: entityTag(id as string, version as number, variant),
    'Last-Modified': new Date(last_updated as string).toUTCString(),
  }
}

/**
 * Whether the client already has the representation that the response headers describe. The date counts only without
 * entity tags (RFC 9110 §13.1.3).
 */
export function isNotModified(ctx: Context): boolean {
  const { method, response } = ctx
  if (method !== 'GET' && method !== 'HEAD') return false
  const ifNoneMatch = requestHeader(ctx, 'IfNoneMatchRead')
  if (ifNoneMatch !== undefined) return namesTag(ifNoneMatch, response.get('ETag'))
  const since = httpDate(requestHeader(ctx, 'IfModifiedSince'))
  return since !== undefined && isUnmodifiedSince(new Date(response.get('Last-Modified')), since)
}

/**
 * The versions in a list of entity tags, in any variant, also in one that a proxy has compressed (`-gzip`). Weak tags and
 * those of other resources name none.
 * Undefined for `*`, which any version matches (RFC 9110 §13.1.1).
 */
function versionsIn(header: string, id: string): number[] | undefined {
  if (header.trim() === '*') return undefined
  return header.split(',').flatMap((tag) => {
    const [, named, digits] = /^"([^:]*):([1-9]\d{0,9})(?:[:-][\w:+-]+)?"$/.exec(tag.trim()) ?? []
    return named === id && Number(digits) <= INTEGER_RANGE.maximum ? [Number(digits)] : []
  })
}

const MONTHS = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec'
const DAY = '(?<day>\\d\\d)'
const TIME = '(?<time>\\d\\d:\\d\\d:\\d\\d)'

/** The current format of a date, and two obsolete ones that recipients must accept. */
const FORMS = [
  new RegExp(`^[A-Z][a-z]{2}, ${DAY} (?<month>${MONTHS}) (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^[A-Z][a-z]{5,8}, ${DAY}-(?<month>${MONTHS})-(?<year>\\d\\d) ${TIME} GMT$`),
  new RegExp(`^[A-Z][a-z]{2} (?<month>${MONTHS}) (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
]

/** An HTTP-date (RFC 9110 §5.6.7), or undefined: conditions ignore malformed dates (§13.1.3, §13.1.4). */
function httpDate(text = ''): Date | undefined {
  const matched = FORMS.map((form) => form.exec(text)).find((match) => match !== null)
  if (!matched) return undefined
  const { day, month, year, time } = matched.groups as Record<string, string>
  const date = new Date(`${day} ${month} ${year?.length === 2 ? fullYear(Number(year)) : year} ${time} GMT`)
  // JavaScript reads the 31st of February as the 3rd of March.
  return date.getUTCDate() === Number(day) ? date : undefined
}

/** A two-digit year more than 50 years ahead is in the past (RFC 9110 §5.6.7). */
function fullYear(year: number): number {
  const now = new Date().getUTCFullYear()
  const full = now - (now % 100) + year
  return full > now + 50 ? full - 100 : full
}
