import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Owner } from '../test/helpers/database/database.ts'
import { createPooler, findPooler, type Pooler } from '../test/helpers/database/pooler.ts'
import { createDatabaseOn, findServer } from '../test/helpers/database/postgres-server.ts'
import { workTogether } from '../test/helpers/load/concurrent-work.ts'
import { type Outcome, send } from '../test/helpers/load/load.ts'
import { startProcess } from '../test/helpers/service/service-process.ts'
import { withOwner } from './owner.ts'

const SESSIONS = 20
const PROCESSES = 4
const CALLERS = 1_000
const RECOVERY_MILLISECONDS = 10_000

/** 1,000 connections of four processes share 20 sessions in transaction mode; then PgBouncer dies and returns. */
export async function run(rounds = 3): Promise<string[]> {
  const server = findServer(console.log)
  if (!server || !(await findPooler(console.log))) return ['it needs PostgreSQL and PgBouncer']
  return withOwner(async (owner) => {
    const direct = await createDatabaseOn(server, owner)
    const pooler = await createPooler(owner, direct, {
      mode: 'transaction',
      size: SESSIONS,
      clients: CALLERS + 20,
    })
    const origins = await startProcesses(owner, pooler)
    const sampler = await sampleConnections(pooler)
    const started = performance.now()
    const { requests, problems } = await workTogether(origins, CALLERS, rounds)
    const seconds = (performance.now() - started) / 1_000
    const { clients, sessions } = await sampler.end()
    console.log(
      `${requests} requests of ${CALLERS} callers in ${Math.round(seconds)} s, over at most ${clients} connections ` +
        `and ${sessions} sessions, ${problems.length} problems`,
    )
    const broken = problems.slice(0, 20)
    if (clients < CALLERS) broken.push(`there were only ${clients} connections`)
    if (sessions > SESSIONS) broken.push(`${sessions} sessions`)
    return [...broken, ...(await restart(pooler, origins))]
  })
}

function startProcesses(owner: Owner, pooler: Pooler): Promise<string[]> {
  const environment = {
    DATABASE_URL: pooler.address,
    DATABASE_POOL_SIZE: String(CALLERS / PROCESSES),
    LOAD_CAPACITY: String(CALLERS),
    DATABASE_TIMEOUT: '60000',
    LOG_LEVEL: 'info',
  }
  return Promise.all(
    Array.from({ length: PROCESSES }, async () => {
      const { origin } = startProcess(environment, owner)
      return origin
    }),
  )
}

/** Asks PgBouncer several times a second how many connections it has on both sides, and keeps the largest numbers. */
async function sampleConnections({ console: address }: Pooler) {
  const client = new pg.Client({ connectionString: address })
  client.on('error', () => {})
  await client.connect()
  const most = { clients: 0, sessions: 0 }
  let isOver = false
  const sampling = (async () => {
    while (!isOver) {
      const { rows } = (await client.query('SHOW POOLS')) as { rows: Record<string, string>[] }
      const pools = rows.filter(({ database }) => database !== 'pgbouncer')
      const sum = (name: RegExp) =>
        pools
          .flatMap((pool) => Object.entries(pool).filter(([column]) => name.test(column)))
          .reduce((total, [, count]) => total + Number(count), 0)
      most.clients = Math.max(most.clients, sum(/^cl_(?:active|waiting)$/))
      most.sessions = Math.max(most.sessions, sum(/^sv_/))
      await delay(100)
    }
  })()
  return {
    async end() {
      isOver = true
      await sampling
      await client.end()
      return most
    },
  }
}

/** Kills PgBouncer under load: 503 while it is gone, and no acknowledged write is lost. */
async function restart(pooler: Pooler, origins: readonly string[]): Promise<string[]> {
  const acknowledged: string[] = []
  const statuses = new Map<string, number>()
  let isOver = false
  const note = (outcome: Outcome) => {
    const status = outcome.kind === 'answered' ? String(outcome.status) : outcome.kind
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    return status
  }
  const call = async (origin: string) => {
    while (!isOver) {
      const outcome = await send(origin, {
        method: 'POST',
        path: '/api/v1/missions',
        body: { name: randomUUID() },
      })
      if (note(outcome) === '201' && outcome.kind === 'answered')
        acknowledged.push(JSON.parse(outcome.body).id)
      note(await send(origin, { method: 'GET', path: '/api/v1/missions?limit=1' }))
    }
  }
  const load = Promise.all(
    Array.from({ length: 64 }, (_, number) => call(origins[number % PROCESSES] as string)),
  )
  await delay(2_000)
  await pooler.kill()
  await delay(2_000)
  const started = performance.now()
  await pooler.start()
  await Promise.all(origins.map(untilReady))
  const recovery = performance.now() - started
  await delay(2_000)
  isOver = true
  await load
  const lost: string[] = []
  for (const id of acknowledged) {
    const outcome = await send(origins[0] as string, { method: 'GET', path: `/api/v1/missions/${id}` })
    if (outcome.kind !== 'answered' || outcome.status !== 200) lost.push(id)
  }
  console.log(
    `PgBouncer killed: ${JSON.stringify(Object.fromEntries(statuses))}, ${acknowledged.length} acknowledged writes, ` +
      `${lost.length} lost, ready after ${Math.round(recovery)} ms`,
  )
  const wrong = [...statuses.keys()].filter((status) => !['200', '201', '503'].includes(status))
  return [
    ...(wrong.length > 0 ? [`PgBouncer killed: answers ${wrong}`] : []),
    ...(statuses.has('503') ? [] : ['PgBouncer killed: no request noticed']),
    ...(lost.length > 0 ? [`PgBouncer killed: ${lost.length} acknowledged writes are lost`] : []),
    ...(recovery > RECOVERY_MILLISECONDS ? [`recovery took ${Math.round(recovery)} ms`] : []),
  ]
}

async function untilReady(origin: string): Promise<void> {
  for (;;) {
    const outcome = await send(origin, { method: 'GET', path: '/health/ready' })
    if (outcome.kind === 'answered' && outcome.status === 200) return
    await delay(20)
  }
}
