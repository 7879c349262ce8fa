import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { createDatabaseOn, findServer } from '../test/helpers/database/postgres-server.ts'
import { send } from '../test/helpers/load/load.ts'
import { createFaultyLink } from '../test/helpers/process/faulty-link.ts'
import { startProcess } from '../test/helpers/service/service-process.ts'
import { withOwner } from './owner.ts'

const ANSWER_MILLISECONDS = 3_000
const RECOVERY_MILLISECONDS = 5_000
const TROUBLE_MILLISECONDS = 8_000

/** Puts the database into every kind of trouble: 503 in time, alive, not ready, and well again by itself. */
export async function run(): Promise<string[]> {
  const server = findServer((reason) => console.log(reason))
  if (!server) return ['there is no PostgreSQL server to try it with']
  return withOwner(async (owner) => {
    const direct = await createDatabaseOn(server, owner)
    const link = await createFaultyLink(new URL(direct), owner)
    const address = new URL(direct)
    address.host = `127.0.0.1:${link.port}`
    const service = startProcess({ DATABASE_URL: address.href, LOG_LEVEL: 'info' }, owner)
    const origin = await service.origin
    const locker = new pg.Client({ connectionString: direct })
    locker.on('error', () => {})
    await locker.connect()
    const troubles = {
      'server down': { begin: () => link.set('down'), end: () => link.set('open') },
      'packets vanish': { begin: () => link.set('black hole'), end: () => link.set('open') },
      'connections reset over and over': resets(link.reset),
      'every session waits for a lock': {
        begin: () =>
          locker.query(
            'BEGIN; LOCK TABLE public.species, public_internal.tombstones IN ACCESS EXCLUSIVE MODE',
          ),
        end: () => locker.query('ROLLBACK'),
      },
    }
    const broken: string[] = []
    for (const [name, trouble] of Object.entries(troubles)) {
      broken.push(...(await endure(origin, name, trouble)))
    }
    await locker.end()
    if (/unhandled/i.test(service.output()) || service.child.exitCode !== null)
      broken.push('the process did not bear it')
    return broken
  })
}

interface Trouble {
  begin(): unknown
  end(): unknown
}

async function endure(origin: string, name: string, { begin, end }: Trouble): Promise<string[]> {
  const statuses = new Map<string, number>()
  let slowest = 0
  await begin()
  const until = performance.now() + TROUBLE_MILLISECONDS
  const ask = async (method: string, path: string, body?: object) => {
    const started = performance.now()
    const outcome = await send(origin, { method, path, body })
    slowest = Math.max(slowest, performance.now() - started)
    const what = outcome.kind === 'answered' ? String(outcome.status) : outcome.kind
    statuses.set(what, (statuses.get(what) ?? 0) + 1)
  }
  let live = 0
  let ready = 0
  const callers = Array.from({ length: 32 }, async (_, caller) => {
    for (let number = 0; performance.now() < until; number++) {
      await ask('GET', '/api/v1/species')
      await ask('POST', '/api/v1/species', { scientific_name: `${name} ${caller} ${number}` })
      await delay(20)
    }
  })
  while (performance.now() < until) {
    if (!(await isStatus(origin, '/health/live', 200))) live++
    if (await isStatus(origin, '/health/ready', 200)) ready++
    await delay(200)
  }
  await Promise.all(callers)
  await end()
  const started = performance.now()
  while (!(await isStatus(origin, '/api/v1/species', 200))) await delay(20)
  for (let count = 0; count < 20; count++) if (!(await isStatus(origin, '/api/v1/species', 200))) count = 0
  const recovery = performance.now() - started
  console.log(
    `${name}: ${JSON.stringify(Object.fromEntries(statuses))}, slowest ${Math.round(slowest)} ms, ready ${ready} times, serving again after ${Math.round(recovery)} ms`,
  )
  const wrong = [...statuses.keys()].filter((status) => !['200', '201', '503'].includes(status))
  return [
    ...(wrong.length > 0 ? [`${name}: answers ${wrong}`] : []),
    ...(slowest > ANSWER_MILLISECONDS ? [`${name}: an answer after ${Math.round(slowest)} ms`] : []),
    ...(live > 0 ? [`${name}: it was not alive ${live} times`] : []),
    ...(recovery > RECOVERY_MILLISECONDS ? [`${name}: recovery took ${Math.round(recovery)} ms`] : []),
  ]
}

async function isStatus(origin: string, path: string, status: number): Promise<boolean> {
  const outcome = await send(origin, { method: 'GET', path })
  return outcome.kind === 'answered' && outcome.status === status
}

function resets(reset: () => void): Trouble {
  let timer: NodeJS.Timeout | undefined
  return {
    begin: () => {
      timer = setInterval(reset, 50)
    },
    end: () => clearInterval(timer),
  }
}
