import { absenceOf, notFound } from './absent.ts'
import type { PrismaClient } from './database/generated/client.ts'
import { isAddress } from './identifiers.ts'
import type { Resource } from './resource.ts'
import type { Row } from './rows.ts'
import { type Address, type Client, delegate, findRow } from './store.ts'

/**
 * One resource.
 *
 * @throws {DomainError} RESOURCE_NOT_FOUND (404), RESOURCE_GONE (410)
 */
export async function readResource(client: PrismaClient, resource: Resource, address: Address): Promise<Row> {
  refuseMalformed(resource, address)
  return (
    (await findRow(client, resource, address)) ?? Promise.reject(await absenceOf(client, resource, address))
  )
}

/**
 * The rows that have these identifiers in a column, by them, in one statement. An identifier that is not
 * there has none.
 */
export async function readRows(
  client: Client,
  resource: Resource,
  column: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Row>> {
  const rows = await delegate(client, resource).findMany({ where: { [column]: { in: ids } } })
  return new Map(rows.map((row) => [row[column] as string, row]))
}

/** A malformed identifier is simply unknown, and PostgreSQL need not be asked (it refuses U+0000). */
function refuseMalformed(resource: Resource, address: Address): void {
  if (!isAddress(address)) throw notFound(resource, address)
}
