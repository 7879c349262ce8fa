import { DomainError } from './errors.ts'
import type { Address } from './identifiers.ts'
import type { Row } from './row.ts'

/**
 * Compares the versions a caller relies on with the stored one (SPEC §4.5, §4.6; RFC 9110 §13.1.1).
 * An empty list matches nothing: the caller relies on a state that never was this resource's.
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
