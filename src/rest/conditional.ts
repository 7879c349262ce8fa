import type { IncomingHttpHeaders } from 'node:http'
import { versionsIn } from './entity-tag.ts'

/** What a write may meet, as its conditional headers say (RFC 9110 §13.1). */
export interface Preconditions {
  /** Only these versions may be changed; undefined for any. */
  readonly versions: readonly number[] | undefined
  /** The resource must exist (If-Match was sent). */
  readonly mustExist: boolean
  /** The resource must not exist (`If-None-Match: *`). */
  readonly mustNotExist: boolean
}

/** Reads the preconditions of a write. Other values of If-None-Match than `*` say nothing on a write. */
export function preconditionsOf(headers: IncomingHttpHeaders, id: string): Preconditions {
  const ifMatch = headers['if-match']
  return {
    versions: ifMatch === undefined ? undefined : versionsIn(ifMatch, id),
    mustExist: ifMatch !== undefined,
    mustNotExist: headers['if-none-match']?.trim() === '*',
  }
}

/**
 * Whether a reader already has this version. Weak comparison, as RFC 9110 §13.1.2 has it for
 * If-None-Match: a tag that a proxy has weakened still means the same content.
 */
export function isNotModified(headers: IncomingHttpHeaders, id: string, version: number): boolean {
  const ifNoneMatch = headers['if-none-match']
  if (ifNoneMatch === undefined) return false
  const versions = versionsIn(ifNoneMatch.replace(/\bW\/"/g, '"'), id)
  return versions === undefined || versions.includes(version)
}
