import pg from 'pg'
import type { Owner } from '../../test/helpers/database/database.ts'

/** A session of its own, outside of the service. It ends with the owner. */
export async function openSession(database: string, owner: Owner): Promise<pg.Client> {
  const client = new pg.Client(database)
  // Those of statements reject them.
  client.on('error', () => {})
  await client.connect()
  owner.teardown(() => client.end())
  await client.query('SET search_path TO public')
  return client
}
