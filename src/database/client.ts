import { PrismaPg } from '@prisma/adapter-pg'
import type { Pool } from 'pg'
import type { Resource } from '../domain/model/resource.ts'
import type { Row } from '../domain/model/row.ts'
import { prismaError } from './errors.ts'
import { extend, type ResourceMethods, type StatementMethods } from './extension.ts'
import { type Prisma, PrismaClient } from './generated/client.ts'
import type { Statement } from './sql/statement.ts'
import { statementName } from './statement-name.ts'
import { types } from './timestamptz.ts'

/** Prisma's client with our extension, or the part of it that runs inside a transaction. */
export type Client = Prisma.TransactionClient & StatementMethods

/** The client of a database, outside of transactions. */
export type DatabaseClient = Omit<PrismaClient, '$extends'> & StatementMethods

interface ClientOptions {
  /** The schema that the tables are in, if not the default. */
  readonly schema?: string | undefined
  /**
   * Whether each connection keeps statements prepared. Not where connections share a session, as those
   * to the embedded database do.
   */
  readonly prepared: boolean
  /** In milliseconds: how long a transaction may take, or the wait for one. */
  readonly timeout: number
}

/** Makes the client of a database from a pool of connections to it. */
export function createClient(pool: Pool, { schema, prepared, timeout }: ClientOptions): DatabaseClient {
  const nameOf = prepared ? statementName : () => ''
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool, {
      disposeExternalPool: true,
      statementNameGenerator: nameOf,
      ...(schema !== undefined && { schema }),
    }),
    transactionOptions: { maxWait: timeout, timeout },
  })
  const send = async <Result>({ text, values }: Statement): Promise<Result[]> => {
    const name = nameOf({ sql: text })
    return (await pool.query({ name, text, values: values as unknown[], types })).rows as Result[]
  }
  return extend(prisma, send) as unknown as DatabaseClient
}

/**
 * Runs work in a transaction, which is rolled back when the work rejects.
 *
 * @throws {DomainError} SERVICE_UNAVAILABLE (503) when no transaction can begin, or it takes too long
 */
export async function transact<Result>(
  client: DatabaseClient,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  try {
    return await client.$transaction((inside) => work(inside as unknown as Client))
  } catch (error) {
    throw prismaError(error)
  }
}

/** What is used of the model of a resource: Prisma's own methods for writes, and those of our extension. */
export interface Model extends ResourceMethods {
  findMany(query: object): Promise<Row[]>
  updateManyAndReturn(query: object): Promise<Row[]>
  deleteMany(query: object): Promise<{ count: number }>
}

/** The model of a resource: the one place where a definition meets Prisma by name. */
export function modelOf(client: Client, { name }: Resource): Model {
  const model = name.charAt(0).toLowerCase() + name.slice(1)
  return (client as unknown as Record<string, Model>)[model] as Model
}
