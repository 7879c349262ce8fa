import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { createEmbedded } from '../test/helpers/database.ts'
import { send } from '../test/helpers/load.ts'
import { createDatabaseOn, findServer } from '../test/helpers/postgres-server.ts'
import { processToken, type ServiceProcess, startProcess } from '../test/helpers/service-process.ts'
import { ATTACKS, attack } from './hostile-callers.ts'
import { memory } from './memory.ts'
import { withOwner } from './owner.ts'
import { percentile } from './percentile.ts'

const SPECIES = 205_000
const MOONS = 300_000
const MEMORY_MEGABYTES = 400
const SLOWER = 3

/** The honest caller: so many connections, each of which reads one resource after the other. */
const CONNECTIONS = 8
const PAUSE_MILLISECONDS = 10

/**
 * Lets one hostile caller after the other ask for too much, while an honest one reads. The honest one is always
 * served, and about as fast as before.
 */
export async function run(seconds = 10, only?: string): Promise<string[]> {
  const server = await findServer((reason) => console.log(`PostgreSQL: ${reason}; on the embedded database`))
  return withOwner(async (owner) => {
    const address = server && only !== 'embedded' ? await createDatabaseOn(server, owner) : undefined
    const place = address ? { DATABASE_URL: address } : { DATA_DIR: (await createEmbedded(owner)).dataDir }
    const service = startProcess({ ...place, LOG_LEVEL: 'info' }, owner)
    const origin = await service.origin
    await fill(
      address
        ? { connectionString: address }
        : { host: place.DATA_DIR, user: 'postgres', database: 'postgres' },
    )
    await read(origin, 5)
    const broken: string[] = []
    for (const kind of ATTACKS) {
      const normal = await read(origin, 5)
      const watch = watchMemory(service)
      const [answers, others] = await Promise.all([attack({ origin, kind, seconds }), read(origin, seconds)])
      const most = await watch.end()
      console.log(
        `${kind}: ${JSON.stringify(answers)}; p99 of others ${others.p99.toFixed(1)} ms (normally ${normal.p99.toFixed(1)} ms), ${others.failed} of ${others.count} failed, ${most} MB resident at most`,
      )
      if (others.failed > 0) broken.push(`${kind}: ${others.failed} requests of others failed`)
      if (others.p99 > SLOWER * normal.p99) broken.push(`${kind}: p99 of others ${others.p99.toFixed(1)} ms`)
      if (most > MEMORY_MEGABYTES) broken.push(`${kind}: ${most} MB resident`)
      await delay(2_000)
    }
    return broken
  })
}

interface Reading {
  readonly count: number
  readonly failed: number
  /** In milliseconds. */
  readonly p99: number
}

async function read(origin: string, seconds: number): Promise<Reading> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const headers = { authorization: `Bearer ${processToken('honest')}` }
  const until = performance.now() + seconds * 1_000
  const times: number[] = []
  let failed = 0
  const converse = async (_: unknown, connection: number) => {
    for (let number = connection; performance.now() < until; number += CONNECTIONS) {
      const started = performance.now()
      const path = `/api/v1/species/s${1 + (number % 1_000)}`
      const outcome = await send(origin, { method: 'GET', path, headers }, agent)
      times.push(performance.now() - started)
      if (outcome.kind !== 'answered' || outcome.status !== 200) failed++
      await delay(PAUSE_MILLISECONDS)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, converse))
  agent.destroy()
  return { count: times.length, failed, p99: percentile(times, 0.99) }
}

/** The most memory that a process holds, in megabytes, looked at ten times a second. */
function watchMemory(service: ServiceProcess) {
  let most = 0
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      most = Math.max(most, await memory(service))
      await delay(100)
    }
  })()
  return {
    async end() {
      isOver = true
      await watching
      return most
    },
  }
}

/** A large catalogue, a hundred missions with the longest texts, and a planet with very many moons. */
async function fill(connection: pg.ClientConfig): Promise<void> {
  const client = new pg.Client(connection)
  await client.connect()
  await client.query('SET search_path TO public')
  await client.query(`INSERT INTO species (id, scientific_name, common_name, habitat, discovery_status)
    SELECT 's' || i, 'Species ' || i, 'Common ' || i, 'habitat ' || i % 50, 'newly_catalogued'
    FROM generate_series(1, ${SPECIES}) AS i`)
  await client.query(`INSERT INTO missions (id, name, status, objective)
    SELECT 'm' || i, 'Mission ' || i, 'planned', repeat('世', 10000) FROM generate_series(1, 100) AS i`)
  await client.query(`INSERT INTO planets (id, name) VALUES ('crowded', 'Crowded')`)
  await client.query(`INSERT INTO moons (planet_id, id, name)
    SELECT 'crowded', 'm' || i, 'Moon ' || i FROM generate_series(1, ${MOONS}) AS i`)
  await client.query('ANALYZE')
  await client.end()
}
