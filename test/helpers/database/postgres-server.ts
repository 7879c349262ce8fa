import pg from 'pg'
import type { Owner } from './database.ts'
import { createServerDatabase, serverTemplate } from './database.ts'

const LOCAL = 'postgresql://postgres@127.0.0.1:5432/postgres'

const address = process.env['TEST_DATABASE_URL'] || process.env['TEST_SERVER_URL'] || LOCAL

/** Why there is no server; undefined where there is one. */
const problem = await connect().catch((error: Error) => error.message)

async function connect(): Promise<undefined> {
  const client = new pg.Client({ connectionString: address, connectionTimeoutMillis: 3_000 })
  client.on('error', () => {})
  await client.connect()
  await client.end()
}

/**
 * The PostgreSQL server that tests may use: that of TEST_DATABASE_URL or TEST_SERVER_URL, or one without a password on this
 * machine; undefined, with the reason printed, where there is none.
 */
export function findServer(log: (reason: string) => void): string | undefined {
  if (problem === undefined) return address
  log(`not tried: no PostgreSQL server (${problem})`)
  return undefined
}

/** A migrated, empty database of the owner's own on that server. */
export async function createDatabaseOn(server: string, owner: Owner): Promise<string> {
  return createServerDatabase(server, owner, await serverTemplate(server))
}
