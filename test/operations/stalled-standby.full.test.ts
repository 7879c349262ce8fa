import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { findPrograms, type Programs } from '../helpers/database/own-server.ts'
import { createPair } from '../helpers/database/replica-pair.ts'
import { startTestService } from '../helpers/service/service.ts'

const programs = await findPrograms((reason) => console.log(`stalled standby: ${reason}`))
const claim = programs ? test : test.skip

const POOL = 10
const TIMEOUT_MILLISECONDS = 1_000
const FROZEN_MILLISECONDS = 12_000

/** A primary whose commits wait for its standby, and what stops and resumes that. */
async function createSynchronousPair(t: ExecutionContext) {
  const { primary, databaseUrl, control } = await createPair(t, programs as Programs)
  const administrator = new pg.Client({ connectionString: primary.address })
  await administrator.connect()
  const waitFor = async (standbys: string) => {
    await administrator.query(`ALTER SYSTEM SET synchronous_standby_names TO '${standbys}'`)
    await administrator.query('SELECT pg_reload_conf()')
  }
  await waitFor('*')
  const { rows } = await control.query('SELECT pid FROM pg_stat_wal_receiver')
  const signal = (name: NodeJS.Signals) => process.kill(rows[0].pid, name)
  t.teardown(async () => {
    signal('SIGCONT')
    // Nothing is dropped at the end while commits wait.
    await waitFor('')
    await administrator.end()
  })
  const waiting = async () => {
    const text = "SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    return (await administrator.query(text)).rows[0].count as number
  }
  return { databaseUrl, signal, waiting }
}

claim(
  'while a synchronous standby is frozen, writes are refused, reads go on, and sessions do not pile up',
  async (t) => {
    t.timeout(120_000)
    const { databaseUrl, signal, waiting } = await createSynchronousPair(t)
    const settings = {
      databaseUrl,
      databasePoolSize: POOL,
      databaseTimeout: TIMEOUT_MILLISECONDS,
      loadCapacity: 64,
      callerShare: 8,
    }
    const services = [await startTestService(t, settings), await startTestService(t, settings)]
    const [service] = services as [(typeof services)[number]]
    const { body: planet } = await service.writer.post('/planets', { name: 'Stored on both' })
    signal('SIGSTOP')
    let isFrozen = true
    t.teardown(() => {
      isFrozen = false
    })
    const written = new Set<number>()
    const writing = services.flatMap((one, process) =>
      Array.from({ length: 12 }, async (_, number) => {
        const client = one.withSubject(`writer ${number % 4}`)
        for (let attempt = 0; isFrozen; attempt++) {
          const { status } = await client.put(`/planets/p-${process}-${number}-${attempt}`, {
            id: `p-${process}-${number}-${attempt}`,
            name: `Planet ${process} ${number} ${attempt}`,
          })
          written.add(status)
          await delay(100)
        }
      }),
    )
    // The connections of the first writes are given up, and the next ones would need others.
    await delay(3 * TIMEOUT_MILLISECONDS)
    let most = 0
    const failed: string[] = []
    for (const started = performance.now(); performance.now() - started < FROZEN_MILLISECONDS; ) {
      for (const { anonymous, base, origin, reader } of services) {
        for (const path of [`/planets/${planet.id}`, '/planets', '/changes', '/species?q=x']) {
          let { status, body } = await reader.get(base + path)
          // A process of a busy machine stands still for longer than DATABASE_TIMEOUT at times. A read that writes keep
          // from its connection is refused again.
          if (status === 503) ({ status, body } = await reader.get(base + path))
          if (status !== 200) failed.push(`${path} ${status} ${body.detail}`)
        }
        const { status } = await anonymous.get(`${origin}/health/ready`)
        if (status !== 200) failed.push(`readiness ${status}`)
      }
      most = Math.max(most, await waiting())
      await delay(200)
    }
    t.deepEqual(failed, [])
    t.deepEqual([...written], [503])
    // Half of each pool, and a statement that numbers changes.
    t.true(most <= POOL + 2, `${most} sessions waited`)

    isFrozen = false
    signal('SIGCONT')
    await Promise.all(writing)
    for (const [process, { writer }] of services.entries()) {
      const planet = { id: `after-${process}`, name: `After it ${process}` }
      let { status } = await writer.put(`/planets/${planet.id}`, planet)
      for (let attempt = 0; status === 503 && attempt < 100; attempt++) {
        await delay(100)
        status = (await writer.put(`/planets/${planet.id}`, planet)).status
      }
      t.is(status, 201)
    }
    t.is(await waiting(), 0)
  },
)
