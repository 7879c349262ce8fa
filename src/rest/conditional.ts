import type { IncomingHttpHeaders } from 'node:http'
import { namesTag } from '../http/static-content.ts'
import { isUnmodifiedSince } from '../model/precondition.ts'

/**
 * The strong entity tag of a resource: its identifier, which needs no quoting, and its version (RFC 9110 §8.8.3).
 *
 * @param variant distinguishes a representation from the usual one of the same version
 */
export function entityTag(id: string, version: number, variant?: string): string {
  return `"${id}:${version}${variant === undefined ? '' : `:${variant}`}"`
}

export interface Preconditions {
  /** Undefined: any version may be changed. */
  readonly versions: readonly number[] | undefined
  /** Undefined if If-Match, the stronger condition, was sent. */
  readonly unmodifiedSince: Date | undefined
  /** The resource must exist (If-Match was sent). */
  readonly mustExist: boolean
  /** The resource must not exist (`If-None-Match: *`). */
  readonly mustNotExist: boolean
}

/** Reads the preconditions of a write. Other values of If-None-Match than `*` are ignored. */
export function preconditionsOf(headers: IncomingHttpHeaders, id: string): Preconditions {
  const ifMatch = headers['if-match']
  return {
    versions: ifMatch === undefined ? undefined : versionsIn(ifMatch, id),
    unmodifiedSince: ifMatch === undefined ? httpDate(headers['if-unmodified-since']) : undefined,
    mustExist: ifMatch !== undefined,
    mustNotExist: headers['if-none-match']?.trim() === '*',
  }
}

/** The state of a resource that response headers describe. */
export interface State {
  readonly id: string
  readonly version: number
  readonly last_updated: string
}

/**
 * Whether the client of a read already has this representation. The date counts only if no entity tags are sent
 * (RFC 9110 §13.1.3).
 *
 * @param tag the entity tag of the representation
 */
export function isNotModified(headers: IncomingHttpHeaders, tag: string, lastUpdated: Date): boolean {
  const ifNoneMatch = headers['if-none-match']
  if (ifNoneMatch !== undefined) return namesTag(ifNoneMatch, tag)
  const since = httpDate(headers['if-modified-since'])
  return since !== undefined && isUnmodifiedSince(lastUpdated, since)
}

/**
 * The versions that a list of entity tags names, in any variant. Weak tags and those of other resources name none.
 * Undefined for `*`, which any version matches (RFC 9110 §13.1.1).
 */
function versionsIn(header: string, id: string): number[] | undefined {
  if (header.trim() === '*') return undefined
  const tags = header.split(',').map((tag) => tag.trim())
  return tags.filter((tag) => tag.startsWith(`"${id}:`)).flatMap((tag) => versionOf(tag, id))
}

function versionOf(tag: string, id: string): number[] {
  const [, digits] = /^([1-9]\d{0,9})(?::[a-z+-]+)?"$/.exec(tag.slice(id.length + 2)) ?? []
  return digits !== undefined && Number(digits) <= 2147483647 ? [Number(digits)] : []
}

const MONTHS = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec'
const TIME = '(?<time>\\d\\d:\\d\\d:\\d\\d)'

/** The current format of a date, and two obsolete ones that recipients must accept. */
const FORMS = [
  `[A-Z][a-z]{2}, (?<day>\\d\\d) (?<month>${MONTHS}) (?<year>\\d{4}) ${TIME} GMT`,
  `[A-Z][a-z]{5,8}, (?<day>\\d\\d)-(?<month>${MONTHS})-(?<year>\\d\\d) ${TIME} GMT`,
  `[A-Z][a-z]{2} (?<month>${MONTHS}) (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`))

/** An HTTP-date (RFC 9110 §5.6.7). Undefined for anything else, which conditions ignore (§13.1.3, §13.1.4). */
function httpDate(text: string | undefined): Date | undefined {
  const matched = FORMS.map((form) => form.exec(text ?? '')).find((match) => match !== null)
  if (!matched) return undefined
  const { day, month, year = '', time } = matched.groups as Record<string, string>
  const date = new Date(`${day} ${month} ${year.length === 2 ? century(year) : ''}${year} ${time} GMT`)
  // JavaScript takes the 31st of February for the 3rd of March.
  return date.getUTCDate() === Number(day) ? date : undefined
}

/** A two-digit year more than 50 years ahead is in the past (RFC 9110 §5.6.7). */
function century(year: string): string {
  const now = new Date().getUTCFullYear()
  const current = Math.floor(now / 100)
  return String(current * 100 + Number(year) > now + 50 ? current - 1 : current)
}
