import { createClient, type DatabaseClient, type DatabaseUse } from './client.ts'
import type { Connection } from './connection.ts'
import { createPool, type DatabasePool } from './pool.ts'
import { settingsCheck } from './session.ts'

/** The database of the service, open and migrated. */
export interface Database {
  readonly client: DatabaseClient
  readonly pool: DatabasePool
  /** Rejects if a connection does not respond or its session has other settings. */
  check(): Promise<void>
  /** Ends all connections and closes the embedded database. */
  close(): Promise<void>
}

/** Connects to a migrated database. `release` is called when all connections have ended. */
export function createDatabase(connection: Connection, use: DatabaseUse, release = async () => {}): Database {
  const pool = createPool(connection, use)
  const client = createClient(pool, connection, use)
  const close = async () => {
    await client.$disconnect()
    await pool.end()
    await release()
  }
  let closing: Promise<void> | undefined
  return {
    client,
    pool,
    async check() {
      const text = settingsCheck(connection.schema)
      const wrong = await client.$rows<{ name: string }>({ text, values: [] })
      if (wrong.length === 0) return
      throw new Error(`Another client of the session has set ${wrong.map(({ name }) => name).join(', ')}`)
    },
    close: () => (closing ??= close()),
  }
}
