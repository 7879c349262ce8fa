import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { findPrograms, type OwnServer, type Programs } from '../helpers/database/own-server.ts'
import { createPair, onPort, onServer } from '../helpers/database/replica-pair.ts'
import { createFaultyLink } from '../helpers/process/faulty-link.ts'
import type { Client, Json } from '../helpers/service/client.ts'
import { startTestService } from '../helpers/service/service.ts'

const programs = await findPrograms((reason) => console.log(`failover: ${reason}`))
const claim = programs ? test : test.skip

/** A service on a primary, whose standby can be cut off and then take its place. */
async function startBeforeFailover(t: ExecutionContext) {
  const { primary, standby, databaseUrl, control } = await createPair(t, programs as Programs)
  const address = new URL(primary.address)
  const link = await createFaultyLink(address, t)
  const service = await startTestService(t, {
    databaseUrl: onPort(databaseUrl, link.port),
    databaseTimeout: 10_000,
  })
  // The database of the primary is dropped at the end.
  t.teardown(() => primary.start())
  return {
    service,
    databaseUrl: onServer(databaseUrl, standby),
    /** Writes after this are lost. */
    async cutOff() {
      await untilReplayed(primary, control)
      await control.query("ALTER SYSTEM SET primary_conninfo TO ''")
      await control.query('SELECT pg_reload_conf()')
      const receivers = async () => (await control.query('SELECT FROM pg_stat_wal_receiver')).rowCount
      while ((await receivers()) !== 0) await delay(50)
    },
    async promote() {
      await primary.kill()
      await control.query('SELECT pg_promote()')
      address.port = new URL(standby.address).port
      link.reset()
      while ((await service.anonymous.get(`${service.origin}/health/ready`)).status !== 200) await delay(50)
    },
  }
}

async function untilReplayed(primary: OwnServer, standby: pg.Client): Promise<void> {
  const client = new pg.Client({ connectionString: primary.address })
  await client.connect()
  const { rows } = await client.query('SELECT pg_current_wal_lsn() AS written')
  await client.end()
  const text = 'SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS has'
  while (!(await standby.query(text, [rows[0].written])).rows[0].has) await delay(50)
}

const planet = (id: string, name = id) => ({ id, name })
const tagOf = ({ headers }: { headers: Headers }) => headers.get('etag') ?? ''
const shown = ({ id, event }: Json) => `${event} ${id}`

async function follow(client: Client, url: string) {
  const { status, body } = await client.get(url)
  return { status, changes: body._embedded?.changes.map(shown), next: body._links?.next.href as string }
}

claim(
  'after a failover that lost changes, their positions are gone, and neither they nor their entity tags are given again',
  async (t) => {
    const { service, cutOff, promote, databaseUrl } = await startBeforeFailover(t)
    const { writer, reader } = service
    for (const id of ['kept', 'changed', 'deleted']) await writer.put(`/planets/${id}`, planet(id))
    const kept = await follow(reader, '/changes?collection=planets')
    t.is(kept.changes.length, 3)
    const tag = tagOf(await reader.get('/planets/kept'))
    await cutOff()

    const lostTags = [tagOf(await writer.put('/planets/changed', planet('changed', 'Lost changed')))]
    lostTags.push(tagOf(await writer.put('/planets/created', planet('created', 'Lost created'))))
    await writer.delete('/planets/deleted')
    lostTags.push(tagOf(await writer.put('/planets/deleted', planet('deleted', 'Lost deleted'))))
    const lost = await follow(reader, kept.next)
    t.is(lost.changes.length, 4)
    await promote()

    t.is(tagOf(await reader.get('/planets/kept', { 'If-None-Match': tag })), tag)
    t.is((await follow(reader, lost.next)).status, 410, 'before a change')
    const direct = new pg.Client({ connectionString: databaseUrl })
    await direct.connect()
    await direct.query(
      `SET search_path TO public, public_internal; UPDATE planets SET name = 'Direct' WHERE id = 'kept'`,
    )
    await direct.end()
    const names = ['changed', 'created', 'deleted']
    for (const id of names) {
      const name = `New ${id}`
      const conditional = await writer.put(`/planets/${id}`, planet(id, name), {
        'If-Match': lostTags.join(),
      })
      t.is(conditional.status, id === 'created' ? 404 : 409)
      t.true((await writer.put(`/planets/${id}`, planet(id, name))).status < 300)
      const { status, headers } = await reader.get(`/planets/${id}`, { 'If-None-Match': lostTags.join() })
      t.is(status, 200)
      t.false(lostTags.includes(headers.get('etag') ?? ''))
    }
    t.is((await follow(reader, lost.next)).status, 410, 'after as many changes as were lost')
    const { changes, next } = await follow(reader, kept.next)
    t.deepEqual(changes, ['changed kept', 'changed changed', 'created created', 'changed deleted'])
    t.deepEqual((await follow(reader, next)).changes, [])
    const { version } = (await reader.get('/planets/kept/versions')).body._embedded.versions[0]
    await writer.put('/planets/kept', planet('kept', 'Last'))
    t.is((await reader.get('/planets/kept/versions')).body._embedded.versions[0].version, version + 1)
  },
)
