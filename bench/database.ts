import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { migrate } from '../src/database/migrations/migrator.ts'
import { processorSeconds } from './processor-time.ts'

/** Where the scratch databases are made, unless another server is named. */
export const SERVER = 'postgresql://postgres@127.0.0.1:5432/postgres'

/** A scratch database on a PostgreSQL server, migrated and filled. */
export interface Scratch {
  readonly url: string
  drop(): Promise<unknown>
}

/** @param project the folder whose migrations make it */
export async function createScratch(server: string, rows: number, project = PROJECT): Promise<Scratch> {
  const name = `halgraph_bench_${process.pid}_${rows}${project === PROJECT ? '' : '_against'}`
  await run({ connectionString: server }, `CREATE DATABASE ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  const drop = () => run({ connectionString: server }, `DROP DATABASE ${name} WITH (FORCE)`)
  try {
    await migrate({ connectionString: url.href }, join(project, 'prisma/migrations'))
    await fill({ connectionString: url.href }, rows)
  } catch (error) {
    await drop()
    throw error
  }
  return { url: url.href, drop }
}

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url))

/** Planets, and species of them, the same on every database: numbers stand in for chance. */
export async function fill(connection: pg.ClientConfig, rows: number): Promise<void> {
  await run(
    connection,
    `INSERT INTO planets (id, name, host_star, habitable)
      SELECT 'planet-' || n, 'Planet ' || n, 'Star ' || n % 90, n % 3 = 0 FROM generate_series(1, 500) n`,
    `INSERT INTO species (id, scientific_name, common_name, classification_kingdom, classification_class,
        classification_phylum, habitat, planet_origin, planet_id, temperature_range_min_celsius,
        temperature_range_max_celsius, bioluminescent, intelligence_level, discovery_status, discovered_date, last_updated)
      SELECT 'seed-' || lpad(n::text, 8, '0'), 'Species ' || n,
        CASE WHEN n % 3 > 0 THEN 'Common name of ' || n END, 'Animalia',
        CASE WHEN n % 5 > 0 THEN 'Class ' || n % 12 END, 'Phylum ' || n % 9, 'habitat-' || n % 50,
        'Planet ' || 1 + n % 500, 'planet-' || 1 + n % 500, -40 + (n % 300) / 10.0, (n % 700) / 10.0,
        CASE WHEN n % 7 > 0 THEN n % 2 = 0 END, CASE WHEN n % 4 > 0 THEN 'level ' || n % 4 END, 'newly_catalogued',
        '2031-01-01Z'::timestamptz + n * interval '1 second', '2031-01-01Z'::timestamptz + n * interval '1 second'
      FROM generate_series(1, ${rows}) n`,
    'VACUUM ANALYZE',
  )
}

/** Takes away what a scenario has added. */
export async function removeAdded(connection: pg.ClientConfig): Promise<void> {
  await run(
    connection,
    "DELETE FROM species WHERE id NOT LIKE 'seed-%'",
    'VACUUM ANALYZE species, public_internal.tombstones',
  )
}

/** What the sessions of a database have used of the processors; not a number where its server is on another machine. */
export async function sessionSeconds(connectionString: string): Promise<number> {
  const text =
    'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'
  const rows = await run({ connectionString }, text)
  return rows.reduce((sum, { pid }) => sum + processorSeconds(pid), 0)
}

/** What the server calls itself, for the table. */
export async function versionOf(connectionString: string): Promise<string> {
  const rows = await run({ connectionString }, 'SHOW server_version')
  return `PostgreSQL ${rows[0].server_version.split(' ')[0]}`
}

/** Returns the rows of the last statement. */
async function run(connection: pg.ClientConfig, ...statements: string[]) {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    let result: pg.QueryResult | undefined
    for (const statement of statements) result = await client.query(statement)
    return result?.rows ?? []
  } finally {
    await client.end()
  }
}
