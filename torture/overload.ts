import { setTimeout as delay } from 'node:timers/promises'
import { createEmbedded } from '../test/helpers/database/database.ts'
import { createDatabaseOn, findServer } from '../test/helpers/database/postgres-server.ts'
import { runLoad } from '../test/helpers/load/load.ts'
import { startProcess } from '../test/helpers/service/service-process.ts'
import { call } from './callers.ts'
import { memory } from './memory.ts'
import { withOwner } from './owner.ts'

/** Connections that wait for an answer at once: many times what the service lets wait of one caller. */
const CALLERS = 1_280
const SPECIES = 1_000
const RECOVERY_MILLISECONDS = 2_000

/**
 * Asks for four times as many lists as the service can serve, with more callers than it lets wait: it sheds,
 * goes on serving, stays in its memory and is normal again at once. The callers take most of one processor.
 */
export async function run(seconds = 20): Promise<string[]> {
  const server = findServer((reason) => console.log(`PostgreSQL: ${reason}; on the embedded database`))
  return withOwner(async (owner) => {
    const place = server
      ? { DATABASE_URL: await createDatabaseOn(server, owner) }
      : { DATA_DIR: (await createEmbedded(owner)).dataDir }
    const service = startProcess({ ...place, LOG_LEVEL: 'info', CALLER_SHARE: undefined }, owner)
    const origin = await service.origin
    await createSpecies(origin)
    const normally = { origin, callers: 16, seconds: 5 }
    await call(normally)
    const normal = await call(normally)
    const calm = await memory(service)
    const over = await call({ origin, callers: CALLERS, seconds, rate: 4 * normal.served })
    const heavy = await memory(service)
    await delay(RECOVERY_MILLISECONDS)
    const after = await call(normally)
    console.table({ normal, 'four times': over, 'two seconds later': after })
    console.log(`resident memory: ${calm} MB before, ${heavy} MB under overload`)
    return [
      ...(over.shed === 0 ? ['nothing was shed'] : []),
      ...(over.other > 0 ? ['some requests were lost, or answered neither 200 nor 503'] : []),
      ...(over.served < normal.served / 4 ? ['it served less than a quarter of what it normally does'] : []),
      ...(heavy > calm + 400 ? ['its memory grew without bound'] : []),
      ...(after.shed > 0 || after.p99 > 3 * normal.p99 ? ['it was not normal again after two seconds'] : []),
    ]
  })
}

/** Enough for every page that is asked for. */
async function createSpecies(origin: string): Promise<void> {
  let number = 0
  await runLoad(
    origin,
    8,
    () => ({ method: 'POST', path: '/api/v1/species', body: { scientific_name: `Species ${number++}` } }),
    () => {},
    () => number >= SPECIES,
  )
}
