import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import { readMigrations } from '../../../src/database/migrations/migration-files.ts'

/** Prisma's definition. */
const RECORD = `CREATE TABLE _prisma_migrations (id VARCHAR(36) PRIMARY KEY NOT NULL, checksum VARCHAR(64) NOT NULL,
  finished_at TIMESTAMPTZ, migration_name VARCHAR(255) NOT NULL, logs TEXT, rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(), applied_steps_count INTEGER NOT NULL DEFAULT 0)`

/**
 * Makes an empty database one of a version that had all tables in one schema.
 *
 * @param client whose search path begins with that schema
 * @param last the last migration of that version
 */
export async function makeFormerDatabase(client: Client, folder: string, last = '\uffff'): Promise<void> {
  await client.query(RECORD)
  for (const { name, sql, checksum } of await readMigrations(folder)) {
    if (name > last) break
    await client.query(sql)
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), 1)`,
      [randomUUID(), checksum, name],
    )
  }
}
