import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { migrate } from '../src/database/migrations/migrator.ts'
import { processorSeconds } from './processor-time.ts'

/** Where the scratch databases are made, unless another server is named. */
export const SERVER = 'postgresql://postgres@127.0.0.1:5432/postgres'

/** The folder of this build. */
export const PROJECT = fileURLToPath(new URL('../../..', import.meta.url))

/** Databases of so many rows are kept, because it takes minutes to fill them. */
const KEPT_FROM = 100_000

/** A scratch database on a PostgreSQL server, migrated and filled. */
export interface Scratch {
  readonly url: string
  drop(): Promise<unknown>
}

/** @param project the folder whose migrations make it */
export async function createScratch(server: string, rows: number, project = PROJECT): Promise<Scratch> {
  if (rows < KEPT_FROM) return create(server, (url) => prepare(url, rows, project))
  const kept = `halgraph_bench_kept_${rows}_${await fingerprint(rows, project)}`
  const found = await run({ connectionString: server }, `SELECT FROM pg_database WHERE datname = '${kept}'`)
  if (found.length === 0) {
    console.error(`Making ${kept}, which later runs copy`)
    const made = await create(server, (url) => prepare(url, rows, project))
    const rename = `ALTER DATABASE ${new URL(made.url).pathname.slice(1)} RENAME TO ${kept}`
    // Only what is complete has the name. Nothing but copies is ever written to.
    await run({ connectionString: server }, rename).catch(async (error) => {
      await made.drop()
      throw error
    })
  }
  // Otherwise the copy would fill the log, and checkpoints disturb what is measured (PostgreSQL 15 and later).
  return create(server, async () => {}, `TEMPLATE ${kept} STRATEGY file_copy`)
}

let created = 0

async function create(
  server: string,
  complete: (url: string) => Promise<unknown>,
  how = '',
): Promise<Scratch> {
  const name = `halgraph_bench_${process.pid}_${++created}`
  await run({ connectionString: server }, `CREATE DATABASE ${name} ${how}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  const drop = () => run({ connectionString: server }, `DROP DATABASE ${name} WITH (FORCE)`)
  try {
    await complete(url.href)
  } catch (error) {
    await drop()
    throw error
  }
  return { url: url.href, drop }
}

async function prepare(connectionString: string, rows: number, project: string): Promise<void> {
  await migrate({ connectionString }, join(project, 'prisma/migrations'))
  await fill({ connectionString }, rows)
}

/** What a database is made of: other migrations or rows make another one. */
async function fingerprint(rows: number, project: string): Promise<string> {
  const folder = join(project, 'prisma')
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.sql')).sort()
  const hash = createHash('sha256').update(filling(rows).join())
  for (const file of files) hash.update(await readFile(join(folder, file)))
  return hash.digest('hex').slice(0, 12)
}

/**
 * Planets, and species of them, the same on every database: numbers stand in for chance. Without triggers, which would take
 * minutes for a million, they are in no feed. The indexes are made afterwards, in a third of the time.
 */
export async function fill(connection: pg.ClientConfig, rows: number): Promise<void> {
  const indexes = await run(
    connection,
    `SELECT indexrelid::regclass AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
      WHERE indrelid = 'species'::regclass AND NOT indisprimary`,
  )
  await run(
    connection,
    ...indexes.map(({ name }) => `DROP INDEX ${name}`),
    ...filling(rows),
    ...indexes.map(({ definition }) => definition),
    'VACUUM ANALYZE',
  )
}

/** For the statements of a session after it; it takes the rights of a superuser. */
const WITHOUT_TRIGGERS = 'SET session_replication_role = replica'
const RECOUNT = "SELECT recount_rows('species')"

function filling(rows: number): string[] {
  const series = `generate_series(1, ${rows}) n`
  return [
    WITHOUT_TRIGGERS,
    `INSERT INTO planets (id, name, host_star, habitable)
      SELECT 'planet-' || n, 'Planet ' || n, 'Star ' || n % 90, n % 3 = 0 FROM generate_series(1, 500) n`,
    insertion('species', "'seed-' || lpad(n::text, 8, '0')", 'Species ', series),
    // What somebody has who writes a service by hand: no triggers, no CHECKs, and the indexes that are needed.
    'CREATE SCHEMA lean',
    'CREATE TABLE lean.planets (LIKE planets INCLUDING DEFAULTS, PRIMARY KEY (id), UNIQUE (name))',
    `CREATE TABLE lean.species (LIKE species INCLUDING DEFAULTS, PRIMARY KEY (id), UNIQUE (scientific_name),
      FOREIGN KEY (planet_id) REFERENCES lean.planets)`,
    'INSERT INTO lean.planets SELECT * FROM planets',
    'INSERT INTO lean.species SELECT * FROM species',
    'ALTER TABLE lean.planets DROP changed_by',
    'ALTER TABLE lean.species DROP changed_by',
    'CREATE INDEX ON lean.species (discovered_date, id)',
    'CREATE INDEX ON lean.species (habitat, scientific_name)',
    'CREATE INDEX ON lean.species (planet_id)',
    RECOUNT,
    "SELECT recount_rows('planets')",
  ]
}

/** @param id an expression of the number n */
function insertion(table: string, id: string, name: string, series: string): string {
  return `INSERT INTO ${table} (id, scientific_name, common_name, classification_kingdom, classification_class,
      classification_phylum, habitat, planet_origin, planet_id, temperature_range_min_celsius,
      temperature_range_max_celsius, bioluminescent, intelligence_level, discovery_status, discovered_date, last_updated)
    SELECT ${id}, '${name}' || n,
      CASE WHEN n % 3 > 0 THEN 'Common name of ' || n END, 'Animalia',
      CASE WHEN n % 5 > 0 THEN 'Class ' || n % 12 END, 'Phylum ' || n % 9, 'habitat-' || n % 50,
      'Planet ' || 1 + n % 500, 'planet-' || 1 + n % 500, -40 + (n % 300) / 10.0, (n % 700) / 10.0,
      CASE WHEN n % 7 > 0 THEN n % 2 = 0 END, CASE WHEN n % 4 > 0 THEN 'level ' || n % 4 END, 'newly_catalogued',
      '2031-01-01Z'::timestamptz + n * interval '1 second', '2031-01-01Z'::timestamptz + n * interval '1 second'
    FROM ${series}`
}

/** Adds what connections delete: of each, so many. {@link removeAdded} takes away what is left. */
export async function addDoomed(
  connection: pg.ClientConfig,
  table: string,
  connections: number,
  each: number,
) {
  const series = `generate_series(0, ${connections * each - 1}) n`
  const id = `'doomed-' || n % ${connections} || '-' || n / ${connections}`
  // Contenders of one table are checked together.
  const added = `${insertion(table, id, 'Doomed ', series)} ON CONFLICT DO NOTHING`
  await run(connection, WITHOUT_TRIGGERS, added, RECOUNT, `VACUUM ANALYZE ${table}`)
}

/** Takes away what a scenario has added, whose identifiers come before those of the seed, and the graves. */
export async function removeAdded(connection: pg.ClientConfig): Promise<void> {
  await run(
    connection,
    WITHOUT_TRIGGERS,
    "DELETE FROM species WHERE id < 'seed-'",
    "DELETE FROM lean.species WHERE id < 'seed-'",
    'DELETE FROM public_internal.tombstones',
    RECOUNT,
    'VACUUM ANALYZE species, lean.species, public_internal.tombstones',
  )
}

/** What each session of a database has used of the processors. */
export async function sessionSeconds(connectionString: string): Promise<Map<number, number>> {
  const rows = await run(
    { connectionString },
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
      AND pid <> pg_backend_pid()`,
  )
  return new Map(rows.map(({ pid }): [number, number] => [pid, processorSeconds(pid)]))
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
