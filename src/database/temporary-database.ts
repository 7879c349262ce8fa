import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { parseConnection } from './connection.ts'

/**
 * Creates a database on a server, for a test.
 *
 * @param server the address of a database, by which the others are created and dropped
 */
export async function createTemporaryDatabase(server: string) {
  const name = `halgraph_test_${randomBytes(8).toString('hex')}`
  const address = new URL(server)
  address.pathname = `/${name}`
  await administer(server, `CREATE DATABASE ${name}`)
  return { address: address.href, drop: () => administer(server, `DROP DATABASE ${name} WITH (FORCE)`) }
}

async function administer(server: string, statement: string): Promise<void> {
  const client = new pg.Client(parseConnection(server))
  await client.connect()
  await client.query(statement).finally(() => client.end())
}
