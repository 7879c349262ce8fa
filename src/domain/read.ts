import type { DatabaseClient } from '../database/client.ts'
import { lookUpRow, rowsWith } from '../database/sql/row-lookup.ts'
import { isAddress } from './model/identifiers.ts'
import type { Resource } from './model/resource.ts'
import type { Row } from './model/rows.ts'
import { absenceOf, notFound } from './not-found.ts'
import type { Address } from './store.ts'

/**
 * One resource.
 *
 * @throws {DomainError} RESOURCE_NOT_FOUND (404), RESOURCE_GONE (410)
 */
export async function readResource(
  client: DatabaseClient,
  resource: Resource,
  address: Address,
): Promise<Row> {
  refuseMalformed(resource, address)
  return (
    (await lookUpRow(client, resource, address)) ?? Promise.reject(await absenceOf(client, resource, address))
  )
}

/**
 * The rows that have these identifiers in a column, by them, in one statement. An identifier that is not
 * there has none.
 */
export async function readRows(
  client: DatabaseClient,
  resource: Resource,
  column: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Row>> {
  const rows = await rowsWith(client, resource, column, ids)
  return new Map(rows.map((row) => [row[column] as string, row]))
}

/** A malformed identifier is simply unknown, and PostgreSQL need not be asked (it refuses U+0000). */
function refuseMalformed(resource: Resource, address: Address): void {
  if (!isAddress(address)) throw notFound(resource, address)
}
