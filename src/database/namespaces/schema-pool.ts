import type { PoolClient } from 'pg'
import type { Connection } from '../connection.ts'
import { type DatabasePool, type PoolUse, type SchemaClient, WatchedPool } from '../pool.ts'

/** The part of the connections of a server that one schema may use at the same time. */
const PART_OF_SCHEMA = 0.5

/** The connections of a server for one schema. */
export class SchemaPool extends WatchedPool {
  #used = 0
  readonly #waiting: (() => void)[] = []

  constructor(
    override readonly server: DatabasePool,
    private readonly connection: Connection,
    { databasePoolSize, databaseTimeout }: PoolUse,
  ) {
    const max = Math.max(1, Math.floor(databasePoolSize * PART_OF_SCHEMA))
    super({ max, connectionTimeoutMillis: databaseTimeout }, databaseTimeout)
  }

  override fail(error: unknown): unknown {
    return this.server.fail(error)
  }

  override async connect(): Promise<PoolClient> {
    await this.#turn()
    const client = (await this.server.connect().catch((error) => {
      this.#leave()
      throw error
    })) as PoolClient & SchemaClient
    const release = client.release.bind(client)
    client.release = (error) => {
      release(error)
      this.#leave()
    }
    await client.enter(this, this.connection.schema).catch((error) => {
      client.release(error)
      throw error
    })
    return client
  }

  async #turn(): Promise<void> {
    const { max, connectionTimeoutMillis } = this.options
    if (this.#used < max) {
      this.#used++
      return
    }
    await new Promise<void>((resolve, reject) => {
      const start = () => {
        clearTimeout(timer)
        resolve()
      }
      const late = () => {
        this.#waiting.splice(this.#waiting.indexOf(start), 1)
        reject(this.fail(new Error('timeout exceeded when trying to connect')))
      }
      const timer = setTimeout(late, connectionTimeoutMillis)
      this.#waiting.push(start)
    })
  }

  /** A waiting one takes the place. */
  #leave(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#used--
  }
}
