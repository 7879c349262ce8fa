import pg from 'pg'
import type { Owner } from './database.ts'
import { createServerDatabase, serverTemplate } from './database.ts'

const LOCAL = 'postgresql://postgres@127.0.0.1:5432/postgres'

/**
 * The PostgreSQL server that tests may use: that of TEST_DATABASE_URL or TEST_SERVER_URL, or one without a password on this
 * machine; undefined, with the reason printed, where there is none.
 */
export async function findServer(log: (reason: string) => void): Promise<string | undefined> {
  const server = process.env['TEST_DATABASE_URL'] || process.env['TEST_SERVER_URL'] || LOCAL
  const client = new pg.Client({ connectionString: server, connectionTimeoutMillis: 3_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.end()
    return server
  } catch (error) {
    log(`not tried: no PostgreSQL server (${(error as Error).message})`)
    return undefined
  }
}

/** A migrated, empty database of the owner's own on that server. */
export async function createDatabaseOn(server: string, owner: Owner): Promise<string> {
  return createServerDatabase(server, owner, await serverTemplate(server))
}
