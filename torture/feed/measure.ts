import { setTimeout as delay } from 'node:timers/promises'
import { createDatabaseOn } from '../../test/helpers/database/postgres-server.ts'
import { send } from '../../test/helpers/load/load.ts'
import { startProcess } from '../../test/helpers/service/service-process.ts'
import { read } from '../honest-caller.ts'
import { memory } from '../memory.ts'
import { withOwner } from '../owner.ts'
import { percentile } from '../percentile.ts'
import { openSession } from './session.ts'
import { now, REFUSED, subscribe } from './subscribers.ts'

const SECONDS = 15
const WRITES_PER_SECOND = 20

/** Processes of the subscribers, so that they delay the events less than the service does. */
const GENERATORS = 2

/** Measures how many subscribers of one process learn of a change when, and what other callers notice of them. */
export async function measure(server: string, counts: readonly number[]): Promise<string[]> {
  return withOwner(async (owner) => {
    const database = await createDatabaseOn(server, owner)
    const session = await openSession(database, owner)
    await session.query(`INSERT INTO species (id, scientific_name, discovery_status)
      SELECT 's' || i, 'Species ' || i, 'newly_catalogued' FROM generate_series(1, 1000) AS i`)
    await session.query('ANALYZE')
    const settings = { DATABASE_URL: database, LOG_LEVEL: 'info', CALLER_SHARE: undefined }
    const service = startProcess(settings, owner)
    const origin = await service.origin
    await read(origin, 5)
    const broken: string[] = []
    console.log(
      '| subscribers | memory before → after, MB | events | delay p50, ms | p99, ms | interruptions | median of GETs, ms | p99, ms | failed |',
    )
    console.log('| --: | --: | --: | --: | --: | --: | --: | --: | --: |')
    for (const count of counts) {
      const before = await memory(service)
      const subscribers = await Promise.all(
        Array.from({ length: count > 0 ? GENERATORS : 0 }, () =>
          subscribe({ origin, count: count / GENERATORS }),
        ),
      )
      const [acknowledged, others] = await Promise.all([write(origin), read(origin, SECONDS)])
      const after = await memory(service)
      const received = await Promise.all(subscribers.map((one) => one.end(acknowledged)))
      const delays = received.flatMap((one) => one.delays)
      const interruptions = received.reduce((sum, one) => sum + one.interruptions, 0)
      const [p50, p99] = [percentile(delays, 0.5), percentile(delays, 0.99)].map(Math.round)
      const times = [others.median.toFixed(1), others.p99.toFixed(1), `${others.failed} of ${others.count}`]
      console.log(
        `| ${[count, `${before} → ${after}`, delays.length, p50, p99, interruptions, ...times].join(' | ')} |`,
      )
      const unopened = received.reduce((sum, one) => sum + one.unopened, 0)
      if (unopened > 0) broken.push(`${count} subscribers: ${unopened} streams did not begin`)
      const refused = acknowledged.filter((time) => time === REFUSED).length
      if (refused > 0) broken.push(`${count} subscribers: ${refused} of ${acknowledged.length} writes failed`)
      const expected = count * (acknowledged.length - refused)
      if (delays.length !== expected)
        broken.push(`${count} subscribers: ${delays.length} events instead of ${expected}`)
      if (others.failed > 0) broken.push(`${count} subscribers: ${others.failed} GETs of others failed`)
      await delay(2_000)
    }
    return broken
  })
}

/** One writer, at most so many writes a second. Resolves to when each was acknowledged, or that it was refused. */
async function write(origin: string): Promise<number[]> {
  const acknowledged: number[] = []
  const started = performance.now()
  const until = started + SECONDS * 1_000
  for (let number = 0; performance.now() < until; number++) {
    await delay(started + (number * 1_000) / WRITES_PER_SECOND - performance.now())
    const body = { id: 'written', name: `Number ${number}` }
    const outcome = await send(origin, { method: 'PUT', path: '/api/v1/planets/written', body })
    const isAcknowledged = outcome.kind === 'answered' && outcome.status < 300
    acknowledged.push(isAcknowledged ? now() : REFUSED)
  }
  return acknowledged
}
