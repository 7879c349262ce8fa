import type { Client } from 'pg'
import type { Migration } from './migration-files.ts'

/** Compares a database with the migrations of this version. Each list has names, oldest first. */
export interface MigrationState {
  applied: string[]
  pending: string[]
  /** Applied from a file with another checksum. */
  edited: string[]
  /** Applied, but not among the migrations of this version. */
  unknown: string[]
  /** Started, but neither finished nor marked as rolled back. */
  failed: string[]
}

interface Row {
  migration_name: string
  checksum: string
  finished: boolean
}

/** Creates a schema that does not exist. */
export async function createSchema(client: Client, schema: string): Promise<void> {
  const { rows } = await client.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema])
  // IF NOT EXISTS requires the right to create schemas even if the schema exists.
  if (rows.length === 0) await client.query(`CREATE SCHEMA ${client.escapeIdentifier(schema)}`)
}

/** Creates the table in which Prisma records migrations, with the same definition. */
export const MIGRATION_RECORD = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL,
  "checksum" VARCHAR(64) NOT NULL,
  "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL,
  "logs" TEXT,
  "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
  "applied_steps_count" INTEGER NOT NULL DEFAULT 0
)`

/** Compares the database with these migrations. Without a record, all of them are pending. */
export async function readState(client: Client, migrations: Migration[]): Promise<MigrationState> {
  const rows = await readRecord(client)
  const finished = new Map(
    rows.filter((row) => row.finished).map((row) => [row.migration_name, row.checksum]),
  )
  const names = migrations.map(({ name }) => name)
  const isEdited = ({ name, checksum }: Migration) => finished.has(name) && finished.get(name) !== checksum
  const isFailed = (row: Row) => !row.finished && !finished.has(row.migration_name)
  return {
    applied: names.filter((name) => finished.has(name)),
    pending: names.filter((name) => !finished.has(name)),
    edited: migrations.filter(isEdited).map(({ name }) => name),
    unknown: [...finished.keys()].filter((name) => !names.includes(name)),
    failed: rows.filter(isFailed).map((row) => row.migration_name),
  }
}

async function readRecord(client: Client): Promise<Row[]> {
  const { rows: tables } = await client.query<{ found: boolean }>(
    "SELECT to_regclass(quote_ident(current_schema()) || '._prisma_migrations') IS NOT NULL AS found",
  )
  if (!tables[0]?.found) return []
  const { rows } = await client.query<Row>(
    `SELECT migration_name, checksum, finished_at IS NOT NULL AS finished
     FROM "_prisma_migrations" WHERE rolled_back_at IS NULL ORDER BY migration_name`,
  )
  return rows
}
