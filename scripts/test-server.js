// @ts-check
import pg from 'pg'

const LOCAL = 'postgresql://postgres@127.0.0.1:5432/postgres'

/**
 * The PostgreSQL server that tests run on: that of TEST_DATABASE_URL, or one without a password on this machine. Undefined
 * if there is none, or for `TEST_DATABASE_URL=none`: then all tests run on the embedded database.
 */
export async function findTestServer() {
  const given = process.env['TEST_DATABASE_URL']
  if (given === 'none') return undefined
  const client = new pg.Client({ connectionString: given || LOCAL, connectionTimeoutMillis: 3_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return given || LOCAL
  } catch (error) {
    if (given) throw error
    return undefined
  } finally {
    await client.end().catch(() => {})
  }
}
