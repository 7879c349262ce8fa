import type { Owner } from './database.ts'
import { createServerDatabase, serverTemplate } from './database.ts'

/** ava.config.js has found it; in a process of embedded tests it is not TEST_DATABASE_URL. */
const address = process.env['TEST_DATABASE_URL'] ?? process.env['TEST_SERVER_URL']

/** The PostgreSQL server that tests may use; undefined, with the reason printed, where there is none. */
export function findServer(log: (reason: string) => void): string | undefined {
  if (address === undefined) log('not tried: no PostgreSQL server')
  return address
}

/** A migrated, empty database of the owner's own on that server. */
export async function createDatabaseOn(server: string, owner: Owner): Promise<string> {
  return createServerDatabase(server, owner, await serverTemplate(server))
}
