import type { DatabaseClient } from '../database/client.ts'
import { exactly } from '../database/exact-number.ts'
import { Prisma } from '../database/generated/client.ts'
import { insertStatement, updateStatement } from '../database/sql/write-statements.ts'
import type { Resource } from './model/resource.ts'
import type { Row } from './model/rows.ts'
import { RaceLost } from './retry.ts'

/** The client of the database, or the part of one that runs inside a transaction. */
export type Client = DatabaseClient | Prisma.TransactionClient

/** Whether a client works outside of transactions, where each statement is one of its own. */
export function isOutsideTransaction(client: Client): client is DatabaseClient {
  return '$connect' in client
}

/** The rows that a statement answers with. Outside of transactions without Prisma, which takes its time. */
export function queryRows<Result>(client: Client, text: string, values: unknown[]): Promise<Result[]> {
  return isOutsideTransaction(client)
    ? client.queryRows<Result>(text, values)
    : client.$queryRawUnsafe<Result[]>(text, ...values)
}

/** Where one resource is: its identifier, and its parent's where it has a parent. */
export interface Address {
  readonly parentId?: string | undefined
  readonly id: string
}

type Arguments = Readonly<Record<string, unknown>>

/** What is used of a Prisma model delegate. The models differ; what is done with them does not. */
interface Delegate {
  findUnique(query: Arguments): Prisma.PrismaPromise<Row | null>
  findMany(query: Arguments): Prisma.PrismaPromise<Row[]>
  create(query: Arguments): Prisma.PrismaPromise<Row>
  updateManyAndReturn(query: Arguments): Prisma.PrismaPromise<Row[]>
  deleteMany(query: Arguments): Prisma.PrismaPromise<{ count: number }>
}

/** The Prisma model delegate of a resource: the one place where a definition meets Prisma by name. */
export function delegate(client: Client, resource: Resource): Delegate {
  const model = resource.name.charAt(0).toLowerCase() + resource.name.slice(1)
  return (client as unknown as Record<string, Delegate>)[model] as Delegate
}

/** The Prisma condition that holds for one resource only. */
export function uniqueWhere({ parentField }: Resource, { parentId, id }: Address): Arguments {
  return parentField ? { [`${parentField}_id`]: { [parentField]: parentId, id } } : { id }
}

/** The same as a plain condition, for statements that take several. */
export function plainWhere({ parentField }: Resource, { parentId, id }: Address): Arguments {
  return parentField ? { [parentField]: parentId, id } : { id }
}

/** The row at an address. */
export async function findRow(client: Client, resource: Resource, address: Address): Promise<Row | null> {
  return delegate(client, resource).findUnique({ where: uniqueWhere(resource, address) })
}

/** Adds a row; the database sets its version and its timestamps. */
export async function insertRow(
  client: Client,
  resource: Resource,
  address: Address,
  columns: Arguments,
): Promise<Row> {
  if (isOutsideTransaction(client)) {
    const { text, values } = insertStatement(resource, address, columns)
    const [row] = await client.queryRows<Row>(text, values)
    return row as Row
  }
  const data = { ...forPrisma(resource, columns), ...plainWhere(resource, address) }
  return delegate(client, resource).create({ data })
}

/**
 * Changes a row if it still is the version that was looked at: one statement decides.
 *
 * @throws {RaceLost} when it is not
 */
export async function updateRow(
  client: Client,
  resource: Resource,
  address: Address,
  version: number,
  columns: Arguments,
): Promise<Row> {
  const [row] = await update(client, resource, address, version, columns)
  if (!row) throw new RaceLost()
  return row
}

function update(
  client: Client,
  resource: Resource,
  address: Address,
  version: number,
  columns: Arguments,
): Promise<Row[]> {
  if (isOutsideTransaction(client)) {
    const { text, values } = updateStatement(resource, address, version, columns)
    return client.queryRows<Row>(text, values)
  }
  const where = { ...plainWhere(resource, address), version }
  return delegate(client, resource).updateManyAndReturn({ where, data: forPrisma(resource, columns) })
}

/** Numbers exactly; and of the two nulls that Prisma knows for a JSON column, the database's. */
function forPrisma({ leaves }: Resource, columns: Arguments): Arguments {
  const unset = leaves.filter(({ field, column }) => field.type === 'fractions' && columns[column] === null)
  return {
    ...Object.fromEntries(Object.entries(columns).map(([column, value]) => [column, exactly(value)])),
    ...Object.fromEntries(unset.map(({ column }) => [column, Prisma.DbNull])),
  }
}
