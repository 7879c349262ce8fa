import { DomainError } from './errors.ts'
import type { Address } from './identifiers.ts'
import type { Row } from './row.ts'

/**
 * Requires that the stored version is one of those the caller expects (SPEC §4.5, §4.6; RFC 9110 §13.1.1).
 * An empty list matches no version.
 *
 * @throws {DomainError} CONCURRENT_MODIFICATION (409), with the current version
 */
export function requireVersion(row: Row, address: Address, versions: readonly number[] | undefined): void {
  if (versions === undefined || versions.includes(row.version)) return
  throw new DomainError(
    'CONCURRENT_MODIFICATION',
    'The resource has changed since the state that the request relies on; read it again, then repeat the change.',
    [],
    { ...address, version: row.version },
  )
}
