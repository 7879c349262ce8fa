import { randomBytes } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import pg, { type QueryConfig, type QueryResult } from 'pg'
import { createServerDatabase } from '../helpers/database/database.ts'
import { takeTurn } from '../helpers/process/turns.ts'
import { createRestrictedEngine, type EngineOptions, type RestrictedEngine } from './engine.ts'

/** What the examples of the restrictions refer to. */
const OBJECTS = `CREATE TABLE items (id text PRIMARY KEY, note text, names text[], places text[]);
  CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$`

/** An engine whose clients use a schema of its test. */
export interface TestEngine extends RestrictedEngine {
  connect(address?: string): Promise<pg.Client>
}

/**
 * Makes engines in front of one database of the test file, each with a schema that has the objects of the examples.
 *
 * @param server undefined where no test will make one
 */
export function createEngines(server: string | undefined) {
  const releases: (() => Promise<void>)[] = []
  const owner = { teardown: (release: () => Promise<void>) => void releases.push(release) }
  let database: Promise<string> | undefined
  test.after.always(async () => {
    for (const release of releases) await release()
  })
  return async (t: ExecutionContext, options: EngineOptions = {}): Promise<TestEngine> => {
    await takeTurn(t)
    database ??= createServerDatabase(server as string, owner)
    const schema = `test_${randomBytes(4).toString('hex')}`
    const open = async (connectionString: string) => {
      const client = new pg.Client({ connectionString, options: sessionOptions(schema) })
      // A lost connection also rejects the statement.
      client.on('error', () => {})
      await client.connect()
      t.teardown(() => client.end())
      return client
    }
    const direct = await open(await database)
    await direct.query(`CREATE SCHEMA ${schema}; ${OBJECTS}`)
    const engine = await createRestrictedEngine(t, await database, options)
    return { ...engine, connect: (address = engine.address) => open(address) }
  }
}

/** The databases of tests have hostile defaults. */
function sessionOptions(schema: string): string {
  const settings = {
    search_path: schema,
    client_encoding: 'UTF8',
    default_transaction_isolation: 'read\\ committed',
  }
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}

/** Sends a statement without values in the extended protocol, too, which the types of pg do not offer. */
export function send(client: pg.Client, text: string, queryMode?: 'extended'): Promise<QueryResult> {
  return client.query({ text, queryMode } as QueryConfig)
}
