import { PrismaPg } from '@prisma/adapter-pg'
import type { Pool } from 'pg'
import { PrismaClient } from './generated/client.ts'
import { statementName } from './statement-name.ts'
import { types } from './timestamptz.ts'

export interface ClientOptions {
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

/**
 * Prisma's client, and the pool of connections it works on, for the few statements that every other
 * request runs: find rows by identifier, and list a collection. For one look-up Prisma takes 200 to 300 µs
 * of the processor, raw SQL or not; the driver takes 40 to 70, and about 10 where the look-ups of one
 * moment share a statement.
 */
export class DatabaseClient extends PrismaClient {
  readonly pool: Pool
  readonly #nameOf: (query: { readonly sql: string }) => string

  constructor(pool: Pool, { schema, prepared, timeout }: ClientOptions) {
    const nameOf = prepared ? statementName : () => ''
    super({
      adapter: new PrismaPg(pool, {
        disposeExternalPool: true,
        statementNameGenerator: nameOf,
        ...(schema !== undefined && { schema }),
      }),
      transactionOptions: { maxWait: timeout, timeout },
    })
    this.pool = pool
    this.#nameOf = nameOf
  }

  /** The rows that a statement answers with, which must not name them by `*`: a prepared one could not. */
  async queryRows<Row>(text: string, values: unknown[]): Promise<Row[]> {
    const { rows } = await this.pool.query({ name: this.#nameOf({ sql: text }), text, values, types })
    return rows as Row[]
  }
}
