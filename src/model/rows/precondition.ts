import { DomainError, type ErrorCode } from '../errors.ts'
import type { ResourceKey } from './identifiers.ts'
import type { Row } from './row.ts'

/** The state that a caller relies on; undefined members allow any. */
export interface Precondition {
  /** The versions that may be changed; an empty list matches none. */
  readonly versions?: readonly number[] | undefined
  /** Compared in seconds. */
  readonly unmodifiedSince?: Date | undefined
  /** The versions that must not be written, or `all`. */
  readonly unlessVersions?: readonly number[] | 'all' | undefined
}

/**
 * Requires the state that the caller expects (SPEC §4.5, §4.6; RFC 9110 §13.1.1, §13.1.2, §13.1.4).
 *
 * @throws {DomainError} CONCURRENT_MODIFICATION (409) or PRECONDITION_FAILED (412), with the current version
 */
export function requireState(row: Row, key: ResourceKey, condition: Precondition): void {
  const { versions, unmodifiedSince, unlessVersions = [] } = condition
  const { version } = row
  const refuse = (code: ErrorCode, message: string) => {
    throw new DomainError(code, message, [], { ...key, version })
  }
  if (unlessVersions === 'all') refuse('PRECONDITION_FAILED', 'The resource already exists.')
  if (unlessVersions.includes(version as never))
    refuse('PRECONDITION_FAILED', 'The request must not change this version of the resource.')
  const isVersion = versions === undefined || versions.includes(version)
  if (isVersion && (!unmodifiedSince || isUnmodifiedSince(row['last_updated'] as Date, unmodifiedSince)))
    return
  refuse('CONCURRENT_MODIFICATION', 'This resource changed after you read it. Fetch it and try again.')
}

/** Whether a resource has not changed after a moment, compared in seconds, as the dates of HTTP are. */
export function isUnmodifiedSince(lastUpdated: Date, moment: Date): boolean {
  return Math.floor(lastUpdated.getTime() / 1000) <= Math.floor(moment.getTime() / 1000)
}
