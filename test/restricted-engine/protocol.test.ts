import { once } from 'node:events'
import { connect } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { frame } from '../../src/database/embedded/wire-messages.ts'
import { findServer } from '../helpers/database/postgres-server.ts'
import { createEngines } from './client.ts'
import type { RestrictedEngine } from './engine.ts'
import { createReader, type Message, parseMessage, queryMessage, typeOf } from './messages.ts'

const server = findServer((reason) => console.log(`restricted engine: ${reason}`))
const claim = server ? test : test.skip
const createEngine = createEngines(server)

const SYNC = frame('S')
const REFUSED = 'SELECT ctid FROM items'

/** Binds the unnamed statement to a portal, without values. */
const bind = (portal = '') => frame('B', Buffer.from(`${portal}\0\0\0\0\0\0\0\0`))
const execute = (rows = 0, portal = '') =>
  frame('E', Buffer.from(`${portal}\0\0\0\0${String.fromCharCode(rows)}`))

/** The first message of a session. */
function startUp({ username, pathname }: URL): Buffer {
  const parameters = Buffer.from(`\0\x03\0\0user\0${username}\0database\0${pathname.slice(1)}\0\0`)
  const length = Buffer.alloc(4)
  length.writeInt32BE(parameters.length + 4)
  return Buffer.concat([length, parameters])
}

/** Sends messages at once, and resolves to the types of those that come back, up to that many ReadyForQuery. */
async function exchange(
  t: ExecutionContext,
  { address }: RestrictedEngine,
  messages: Message[],
  ready: number,
) {
  const url = new URL(address)
  const socket = connect(Number(url.port), url.hostname)
  t.teardown(() => socket.destroy())
  socket.write(startUp(url))
  const read = createReader()
  const next = async function* () {
    for await (const bytes of socket) yield* read(bytes)
  }
  let types = ''
  let isStarted = false
  for await (const message of next()) {
    const type = typeOf(message)
    if (isStarted && !'SN'.includes(type)) types += type
    if (type !== 'Z') continue
    if (!isStarted) socket.write(Buffer.concat([queryMessage(`SET search_path TO ''`), ...messages]))
    else if (types.split('Z').length > ready + 1) break
    isStarted = true
  }
  // Of the SET.
  return types.slice('CZ'.length)
}

claim('after a refused statement, what follows is skipped until Sync', async (t) => {
  const engine = await createEngine(t)
  const first = [
    parseMessage('', REFUSED),
    bind(),
    execute(),
    parseMessage('', 'SELECT 1'),
    bind(),
    execute(),
  ]
  const second = [parseMessage('', 'SELECT 2'), bind(), execute()]
  t.is(await exchange(t, engine, [...first, SYNC, ...second, SYNC], 2), 'EZ12DCZ')
})

claim('pipelined statements are answered in their order', async (t) => {
  const engine = await createEngine(t)
  const queries = [REFUSED, 'SELECT 1', 'BEGIN', REFUSED, 'SELECT 1', 'ROLLBACK'].map(queryMessage)
  t.is(await exchange(t, engine, queries, 6), 'EZTDCZCZEZEZCZ')
})

claim('a portal is read in parts', async (t) => {
  const engine = await createEngine(t)
  const rows = parseMessage('', 'SELECT generate_series(1, 3)')
  t.is(await exchange(t, engine, [rows, bind('p'), execute(2, 'p'), execute(2, 'p'), SYNC], 1), '12DDsDCZ')
})

claim('a message that arrives byte by byte is understood', async (t) => {
  const engine = await createEngine(t)
  const url = new URL(engine.address)
  const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true })
  t.teardown(() => socket.destroy())
  const sent = Buffer.concat([startUp(url), queryMessage(REFUSED)])
  for (const byte of sent) socket.write(Buffer.from([byte]))
  let received = ''
  while (!received.includes('0A000')) received += (await once(socket, 'data')).toString()
  t.regex(received, /system column not supported yet/)
})

claim('TLS is declined, as by a server without it', async (t) => {
  const { address } = await createEngine(t)
  const client = new pg.Client({ connectionString: address, ssl: { rejectUnauthorized: false } })
  await t.throwsAsync(client.connect(), { message: /does not support SSL/ })
})

claim('a statement can be cancelled', async (t) => {
  const engine = await createEngine(t)
  const client = await engine.connect()
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  const sleeping = t.throwsAsync(client.query('SELECT pg_sleep(60)'), { code: '57014' })
  const observer = await engine.connect()
  const isAsleep = async () => {
    const text = `SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'`
    return (await observer.query(text, [rows[0].pid])).rowCount === 1
  }
  while (!(await isAsleep())) await new Promise(setImmediate)
  const { hostname, port } = new URL(engine.address)
  const request = Buffer.alloc(16)
  const { processID, secretKey } = client as unknown as { processID: number; secretKey: number }
  for (const [index, value] of [16, 80877102, processID, secretKey].entries())
    request.writeInt32BE(value, index * 4)
  connect(Number(port), hostname).end(request)
  await sleeping
})
