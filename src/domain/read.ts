import { absenceOf, notFound } from './absent.ts'
import type { PrismaClient } from './database/generated/client.ts'
import { isAddress } from './identifiers.ts'
import { type Filter, type Sort, toOrderBy, toWhere } from './query.ts'
import type { Resource } from './resource.ts'
import type { Row } from './rows.ts'
import { type Address, delegate, findRow } from './store.ts'

/** What is asked of a list (SPEC §4.1). */
export interface PageRequest {
  /** 1-based. */
  readonly page: number
  readonly limit: number
  readonly sorts: readonly Sort[]
  readonly filter?: Filter | undefined
  /** A resource whose own resources are listed: the owner, or the target of a reference. */
  readonly within?: Within | undefined
}

export interface Within {
  readonly resource: Resource
  readonly id: string
  /** The column that holds the identifier. */
  readonly column: string
}

/** A page of a list, and the count of the whole list as it was at the same moment. */
export interface Page {
  readonly rows: readonly Row[]
  readonly totalCount: number
}

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
 * A page of a list. Page and count come from one snapshot, so that they never contradict each other.
 *
 * @throws {DomainError} RESOURCE_NOT_FOUND (404) or RESOURCE_GONE (410) for the resource it is within
 */
export async function readPage(
  client: PrismaClient,
  resource: Resource,
  request: PageRequest,
): Promise<Page> {
  const { page, limit, sorts, within } = request
  if (within) refuseMalformed(within.resource, within)
  const where = pageWhere(resource, request)
  const list = delegate(client, resource)
  const [totalCount, rows, parents] = await client.$transaction(
    [
      list.count({ where }),
      list.findMany({ where, orderBy: toOrderBy(resource, sorts), skip: (page - 1) * limit, take: limit }),
      ...(within ? [delegate(client, within.resource).count({ where: { id: within.id } })] : []),
    ],
    { isolationLevel: 'RepeatableRead' },
  )
  if (within && parents === 0) throw await absenceOf(client, within.resource, within)
  return { rows: rows as Row[], totalCount: totalCount as number }
}

function pageWhere(resource: Resource, { filter, within }: PageRequest): Record<string, unknown> {
  const conditions = [
    ...(within ? [{ [within.column]: within.id }] : []),
    ...(filter ? [toWhere(resource, filter)] : []),
  ]
  return conditions.length === 1 ? (conditions[0] as Record<string, unknown>) : { AND: conditions }
}

/** A malformed identifier is simply unknown, and PostgreSQL need not be asked (it refuses U+0000). */
function refuseMalformed(resource: Resource, address: Address): void {
  if (!isAddress(address)) throw notFound(resource, address)
}
