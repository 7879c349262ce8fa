import { type Client, escapeIdentifier } from 'pg'
import type { Migration } from './migration-files.ts'
import { internalOf, RECORD, readMisplaced } from './schemas.ts'

/** The advisory lock of Prisma's migrate commands, which must not run at the same time. */
export const MIGRATION_LOCK = 72707369

export type MigrationState = Awaited<ReturnType<typeof readState>>

/** Defined as Prisma defines it. In the schema of the resources, the table gets the default privileges. */
const MIGRATION_RECORD = `CREATE TABLE ${escapeIdentifier(RECORD)} (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL,
  "checksum" VARCHAR(64) NOT NULL,
  "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL,
  "logs" TEXT,
  "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
  "applied_steps_count" INTEGER NOT NULL DEFAULT 0
)`

export async function createRecord(client: Client): Promise<void> {
  const { rowCount } = await client.query('SELECT WHERE to_regclass($1) IS NULL', [RECORD])
  if (rowCount) await client.query(MIGRATION_RECORD)
}

export function recordOf(internal: string): string {
  return `${escapeIdentifier(internal)}.${escapeIdentifier(RECORD)}`
}

/** Compares a database with the migrations of this version. Names, oldest first. */
export async function readState(client: Client, schema: string, migrations: Migration[]) {
  const internal = await internalOf(client, schema)
  const rows = await readRecord(client, internal)
  const finished = new Map(rows.filter((row) => row.finished).map(({ name, checksum }) => [name, checksum]))
  const names = migrations.map(({ name }) => name)
  const isEdited = ({ name, checksum, others = [] }: Migration) =>
    finished.has(name) && ![checksum, ...others].includes(finished.get(name) as string)
  return {
    /** The schema of the internal tables. */
    internal,
    applied: names.filter((name) => finished.has(name)),
    pending: names.filter((name) => !finished.has(name)),
    edited: migrations.filter(isEdited).map(({ name }) => name),
    /** Applied, but not among the migrations of this version. */
    unknown: [...finished.keys()].filter((name) => !names.includes(name)),
    /** Started, but neither finished nor marked as rolled back. */
    failed: rows.map(({ name }) => name).filter((name) => !finished.has(name)),
    misplaced: await readMisplaced(client, schema, internal),
  }
}

/**
 * Earlier versions have the table in the schema of the resources, which comes first in the search path. A name without a
 * schema finds it even while another process moves it.
 */
async function readRecord(client: Client, internal: string) {
  const { rows: found } = await client.query<{ table: string }>(
    'SELECT name AS table FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NOT NULL LIMIT 1',
    [[recordOf(internal), RECORD]],
  )
  const [record] = found
  if (!record) return []
  const { rows } = await client.query<{ name: string; checksum: string; finished: boolean }>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished
     FROM ${record.table} WHERE rolled_back_at IS NULL ORDER BY migration_name`,
  )
  return rows
}
