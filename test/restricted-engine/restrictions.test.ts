import test from 'ava'
import { findServer } from '../helpers/database/postgres-server.ts'
import { CITUS_RESTRICTIONS } from './citus.ts'
import { createEngines, send } from './client.ts'
import { RESTRICTIONS } from './restrictions.ts'

const server = findServer((reason) => console.log(`restricted engine: ${reason}`))
const claim = server ? test : test.skip
const createEngine = createEngines(server)

const NOT_SUPPORTED = { code: '0A000' }

for (const restriction of [...RESTRICTIONS, ...CITUS_RESTRICTIONS]) {
  const { name, example, nearMiss } = restriction
  for (const queryMode of [undefined, 'extended'] as const) {
    claim(`${name}: refused, and what resembles it is not (${queryMode ?? 'simple'} protocol)`, async (t) => {
      const engine = await createEngine(t, { restrictions: [restriction] })
      const client = await engine.connect()
      const ask = (text: string) => send(client, text, queryMode)
      for (const statement of nearMiss) await t.notThrowsAsync(ask(statement), statement)
      t.deepEqual(engine.refused, [])
      for (const statement of example.slice(0, -1)) await ask(statement)
      const error = await t.throwsAsync(ask(example.at(-1) as string), NOT_SUPPORTED)
      t.is(error?.message, `${name} not supported yet`)
      t.is(engine.refused.length, 1)
    })
  }
}

/** Statements that the table must refuse, whatever its rows are called. */
const MISSING = [
  'CREATE TRIGGER t AFTER INSERT ON items REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION f()',
  'LOCK items',
  'DELETE FROM items WHERE ctid = ANY (ARRAY(SELECT ctid FROM items LIMIT 1))',
  'LISTEN writes',
  'NOTIFY writes',
  'UNLISTEN *',
  `SELECT pg_notify('writes', '')`,
  'ALTER TABLE items ADD UNIQUE (id) DEFERRABLE',
  'CREATE CONSTRAINT TRIGGER t AFTER INSERT ON items FOR EACH ROW EXECUTE FUNCTION f()',
  `CREATE FUNCTION g() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN EXECUTE 'ALTER TABLE items ENABLE TRIGGER ALL'; RETURN NULL; END $$`,
  `DO $$ BEGIN IF true THEN LOCK TABLE items; END IF; END $$`,
  'BEGIN; CREATE TABLE more (id text); COMMIT',
]

for (const statement of MISSING) {
  claim(`the engine refuses ${statement.replace(/\s+/g, ' ')}`, async (t) => {
    const client = await (await createEngine(t)).connect()
    await t.throwsAsync(client.query(statement), NOT_SUPPORTED)
  })
}

claim('a feature that is allowed again works as on PostgreSQL', async (t) => {
  const restrictions = RESTRICTIONS.filter(({ name }) => name !== 'system column')
  const client = await (await createEngine(t, { restrictions })).connect()
  await client.query(`INSERT INTO items (id) VALUES ('one')`)
  const { rows } = await client.query('SELECT ctid FROM items')
  t.deepEqual(rows, [{ ctid: '(0,1)' }])
})

test('each restriction has a name of its own, and names the page that says so', (t) => {
  t.is(new Set(RESTRICTIONS.map(({ name }) => name)).size, RESTRICTIONS.length)
  for (const { source } of RESTRICTIONS) t.regex(source, /^https:\/\/(?:docs\.yugabyte|github)\.com\//)
})
