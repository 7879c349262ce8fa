import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { createEmbedded } from '../test/helpers/database/database.ts'
import { createDatabaseOn, findServer } from '../test/helpers/database/postgres-server.ts'
import { type ServiceProcess, startProcess } from '../test/helpers/service/service-process.ts'
import { read } from './honest-caller.ts'
import { ATTACKS, attack, hasWrk, lockedTable } from './hostile-callers.ts'
import { memory } from './memory.ts'
import { withOwner } from './owner.ts'
import { Skipped } from './skipped.ts'

const SPECIES = 205_000
const MOONS = 300_000
const SPACECRAFT = 12_000
const MEMORY_MEGABYTES = 400

/** How many times as long as without a hostile caller the requests of another may take, on PostgreSQL. */
const MEDIAN_FACTOR = 5
const P99_FACTOR = 10

/**
 * Lets one hostile caller after the other ask for too much, while an honest one reads. The honest one is always
 * served, and soon. All of them share the processors of this machine; hostile callers have the lowest priority.
 *
 * @param only `embedded`, or parts of the names of the kinds to try, separated by commas
 */
export async function run(seconds = 10, only = ''): Promise<string[]> {
  if (!(await hasWrk())) throw new Skipped('it needs wrk (Debian package wrk)')
  const server = findServer((reason) => console.log(`PostgreSQL: ${reason}; on the embedded database`))
  return withOwner(async (owner) => {
    const address = server && only !== 'embedded' ? await createDatabaseOn(server, owner) : undefined
    const place = address ? { DATABASE_URL: address } : { DATA_DIR: (await createEmbedded(owner)).dataDir }
    const service = startProcess({ ...place, LOG_LEVEL: 'info', CALLER_SHARE: undefined }, owner)
    const origin = await service.origin
    const connection = address
      ? { connectionString: address }
      : { host: place.DATA_DIR, user: 'postgres', database: 'postgres' }
    await fill(connection)
    await read(origin, 5)
    console.log('| kind | answers | median of others, ms | p99 of others, ms | failed | most memory, MB |')
    console.log('| --- | --- | --: | --: | --: | --: |')
    const broken: string[] = []
    const isTried = (kind: string) =>
      only === 'embedded' || only.split(',').some((part) => kind.includes(part))
    for (const kind of ATTACKS.filter(isTried)) {
      const idle = await read(origin, 5)
      const watch = watchMemory(service)
      const unlock = await lock(connection, lockedTable(kind))
      const [answers, others] = await Promise.all([attack({ origin, kind, seconds }), read(origin, seconds)])
      await unlock()
      const most = await watch.end()
      const compared = (part: 'median' | 'p99') =>
        `${others[part].toFixed(1)} (× ${(others[part] / idle[part]).toFixed(1)})`
      console.log(
        `| ${[kind, answers, compared('median'), compared('p99'), `${others.failed} of ${others.count}`, most].join(' | ')} |`,
      )
      if (others.failed > 0) broken.push(`${kind}: ${others.failed} requests of others failed`)
      if (most > MEMORY_MEGABYTES) broken.push(`${kind}: ${most} MB resident`)
      if (address && others.median > MEDIAN_FACTOR * idle.median)
        broken.push(`${kind}: median of others × ${(others.median / idle.median).toFixed(1)}`)
      if (address && others.p99 > P99_FACTOR * idle.p99)
        broken.push(`${kind}: p99 of others × ${(others.p99 / idle.p99).toFixed(1)}`)
      await delay(2_000)
    }
    return broken
  })
}

/** Locks a table, if one is given, until the returned function is called. */
async function lock(connection: pg.ClientConfig, table: string | undefined): Promise<() => Promise<void>> {
  if (table === undefined) return async () => {}
  const client = new pg.Client(connection)
  await client.connect()
  await client.query(`BEGIN; LOCK TABLE public.${table} IN ACCESS EXCLUSIVE MODE`)
  return () => client.end()
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
  // Test databases have other defaults. In other transactions, differences of row counts are not summed.
  await client.query(`SET search_path TO public; SET default_transaction_isolation TO 'read committed'`)
  await client.query(`INSERT INTO species (id, scientific_name, common_name, habitat, discovery_status)
    SELECT 's' || i, 'Species ' || i, 'Common ' || i, 'habitat ' || i % 50, 'newly_catalogued'
    FROM generate_series(1, ${SPECIES}) AS i`)
  await client.query(`INSERT INTO missions (id, name, status, objective)
    SELECT 'm' || i, 'Mission ' || i, 'planned', repeat('世', 10000) FROM generate_series(1, 100) AS i`)
  await client.query(`INSERT INTO planets (id, name) VALUES ('crowded', 'Crowded')`)
  await client.query(`INSERT INTO moons (planet_id, id, name)
    SELECT 'crowded', 'm' || i, 'Moon ' || i FROM generate_series(1, ${MOONS}) AS i`)
  await client.query(`INSERT INTO spacecraft (id, name, kind)
    SELECT 'c' || i, 'Spacecraft ' || i, 'orbiter' FROM generate_series(1, ${SPACECRAFT}) AS i`)
  await client.query('ANALYZE')
  // Numbering half a million changes takes a core, which would delay the honest caller.
  const unnumbered = 'SELECT FROM public_internal.recorded_changes WHERE position IS NULL LIMIT 1'
  while ((await client.query(unnumbered)).rowCount) await delay(500)
  await client.end()
}
