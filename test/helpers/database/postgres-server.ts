import { sendBy } from '../../../src/database/namespaces/citus.ts'
import { register } from '../../../src/database/namespaces/registry.ts'
import { administer, createServerDatabase, type Owner, serverTemplate } from './database.ts'

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

/** Namespaces whose schemas {@link createSpacesOn} makes. */
export const PREPARED = ['north', 'south', 'east', 'west'] as const
export type ManyNames = readonly (typeof PREPARED)[number][]

/** A migrated, empty database with the schemas of all prepared namespaces, of which some are registered. */
export async function createSpacesOn(
  server: string,
  owner: Owner,
  names: ManyNames = PREPARED,
  migrations?: string,
): Promise<string> {
  const databaseUrl = await createServerDatabase(
    server,
    owner,
    await serverTemplate(server, migrations, PREPARED),
  )
  await administer(databaseUrl, async (client) => {
    for (const name of names) await register(sendBy(client), undefined, name, undefined)
  })
  return databaseUrl
}
