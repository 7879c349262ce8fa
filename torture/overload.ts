import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { createEmbedded } from '../test/helpers/database.ts'
import { runLoad } from '../test/helpers/load.ts'
import { createDatabaseOn, findServer } from '../test/helpers/postgres-server.ts'
import { BUILT, type ServiceProcess, startProcess } from '../test/helpers/service-process.ts'
import { withOwner } from './owner.ts'
import { percentile } from './percentile.ts'

interface Measured {
  /** Requests a second that were served, and that were shed. */
  readonly served: number
  readonly shed: number
  readonly other: number
  readonly lost: number
  /** In milliseconds, of what was served. */
  readonly p50: number
  readonly p99: number
}

/**
 * Asks for lists with so many callers that the service has four times the work it takes on at once and
 * in waiting: it sheds, serves about as much as before, stays in its memory and is normal again at once.
 */
export async function run(seconds = 20): Promise<string[]> {
  const server = await findServer((reason) => console.log(`PostgreSQL: ${reason}; on the embedded database`))
  return withOwner(async (owner) => {
    const place = server
      ? { DATABASE_URL: await createDatabaseOn(server, owner) }
      : { DATA_DIR: (await createEmbedded(owner)).dataDir }
    const service = startProcess({ ...place, LOG_LEVEL: 'info' }, owner, BUILT)
    const origin = await service.origin
    await measure(origin, 16, 3)
    const normal = await measure(origin, 16, 5)
    const calm = await memory(service)
    const over = await measure(origin, 4 * (64 + 256), seconds)
    const heavy = await memory(service)
    await delay(2_000)
    const after = await measure(origin, 16, 3)
    console.table({ normal, 'four times': over, 'two seconds later': after })
    console.log(`resident memory: ${calm} MB before, ${heavy} MB under overload`)
    return [
      ...(over.shed === 0 ? ['nothing was shed'] : []),
      ...(over.lost + over.other > 0 ? ['some requests were lost, or answered neither 200 nor 503'] : []),
      ...(over.served < normal.served / 2 ? ['it served less than half of what it normally does'] : []),
      ...(heavy > calm + 400 ? ['its memory grew without bound'] : []),
      ...(after.shed > 0 || after.p99 > 3 * normal.p99 ? ['it was not normal again after two seconds'] : []),
    ]
  })
}

async function measure(origin: string, callers: number, seconds: number): Promise<Measured> {
  const until = performance.now() + seconds * 1_000
  const times: number[] = []
  const count = { served: 0, shed: 0, other: 0, lost: 0 }
  const started = new Map<object, number>()
  const next = () => {
    const sent = { method: 'GET', path: '/api/v1/species' }
    started.set(sent, performance.now())
    return sent
  }
  await runLoad(
    origin,
    callers,
    next,
    (sent, outcome) => {
      const milliseconds = performance.now() - (started.get(sent) ?? 0)
      started.delete(sent)
      if (outcome.kind !== 'answered') count.lost++
      else if (outcome.status === 200) {
        count.served++
        times.push(milliseconds)
      } else if (outcome.status === 503 && outcome.headers['retry-after']) count.shed++
      else count.other++
    },
    () => performance.now() > until,
  )
  const perSecond = (number: number) => Math.round(number / seconds)
  return {
    ...count,
    served: perSecond(count.served),
    shed: perSecond(count.shed),
    p50: Math.round(percentile(times, 0.5)),
    p99: Math.round(percentile(times, 0.99)),
  }
}

/** In megabytes. */
async function memory({ child }: ServiceProcess): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024)
}
