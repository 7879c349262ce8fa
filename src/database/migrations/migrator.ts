import { randomUUID } from 'node:crypto'
import { Client, DatabaseError } from 'pg'
import type { Connection } from '../connection.ts'
import { DatabaseRefusedError } from '../refused.ts'
import { readServerFacts, refuseServer } from '../server-facts.ts'
import { DEFAULT_SCHEMA, sessionStatement } from '../session.ts'
import { type Migration, readMigrations } from './migration-files.ts'
import { MIGRATION_RECORD, type MigrationState, readState } from './migration-state.ts'

/** The advisory lock of Prisma's migrate commands, which must not run at the same time. */
const MIGRATION_LOCK = 72707369

/** PostgreSQL, appendix A. */
const INSUFFICIENT_PRIVILEGE = '42501'

/**
 * Applies the pending migrations in order, each in one transaction with the advisory lock, and records them
 * like `prisma migrate deploy`. A failed migration is rolled back; the previous ones remain applied.
 *
 * @returns the names of the migrations that it has applied, oldest first.
 * @throws DatabaseRefusedError if the database cannot be reached, is not supported, or has unknown or edited
 *   migrations, or if a migration fails or the role lacks a privilege.
 */
export function migrate(connection: Connection, folder: string): Promise<string[]> {
  return withClient(connection, async (client) => {
    const migrations = await readMigrations(folder)
    const state = await readState(client, migrations)
    refuse(state)
    // A role without the right to create tables can use a migrated database.
    if (state.pending.length === 0) return []
    await createRecord(client, connection.schema ?? DEFAULT_SCHEMA)
    const applied: string[] = []
    for (const migration of migrations.filter(({ name }) => state.pending.includes(name))) {
      if (await apply(client, migration, migrations)) applied.push(migration.name)
    }
    return applied
  })
}

/**
 * Compares the database with the migrations of this version.
 *
 * @throws DatabaseRefusedError if the database cannot be reached or is not supported.
 */
export function migrationState(connection: Connection, folder: string): Promise<MigrationState> {
  return withClient(connection, async (client) => readState(client, await readMigrations(folder)))
}

/** @throws DatabaseRefusedError if the database has unknown, edited or failed migrations. */
export function refuse(state: MigrationState): void {
  const problems = [
    ...state.unknown.map(
      (name) => `${name} is applied but unknown: the database is of a newer version or of another domain`,
    ),
    ...state.edited.map((name) => `${name} was edited after it was applied`),
    ...state.failed.map((name) => `${name} was started by another tool and did not finish`),
  ]
  if (problems.length === 0) return
  throw new DatabaseRefusedError(
    `The database does not match the migrations of this version: ${problems.join('; ')}. ` +
      'Start the matching version, then continue with `npm run migrate`.',
  )
}

/** Applies a migration unless another process has applied it meanwhile. */
async function apply(client: Client, migration: Migration, migrations: Migration[]): Promise<boolean> {
  try {
    return await inLockedTransaction(client, async () => {
      const state = await readState(client, migrations)
      refuse(state)
      if (!state.pending.includes(migration.name)) return false
      await client.query(migration.sql)
      await client.query(
        `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
         VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
        [randomUUID(), migration.checksum, migration.name],
      )
      return true
    })
  } catch (cause) {
    if (cause instanceof DatabaseRefusedError) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new DatabaseRefusedError(`Migration ${migration.name} failed and was rolled back: ${reason}`, {
      cause,
    })
  }
}

function createRecord(client: Client, schema: string): Promise<void> {
  return inLockedTransaction(client, async () => {
    const { rows } = await client.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema])
    // IF NOT EXISTS requires the right to create schemas even if the schema exists.
    if (rows.length === 0) await client.query(`CREATE SCHEMA ${client.escapeIdentifier(schema)}`)
    await client.query(MIGRATION_RECORD)
  })
}

async function inLockedTransaction<Result>(client: Client, work: () => Promise<Result>): Promise<Result> {
  await client.query('BEGIN')
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    const result = await work()
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

async function withClient<Result>(
  connection: Connection,
  use: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ connectionTimeoutMillis: 5_000, ...connection })
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (cause) {
    const reason =
      cause instanceof AggregateError ? cause.errors.map(String).join(', ') : (cause as Error).message
    throw new DatabaseRefusedError(
      `The database at ${client.host}:${client.port} cannot be reached: ${reason}`,
      { cause },
    )
  }
  try {
    await client.query(sessionStatement(connection.schema))
    refuseServer(await readServerFacts(client))
    return await use(client)
  } catch (cause) {
    if (!(cause instanceof DatabaseError && cause.code === INSUFFICIENT_PRIVILEGE)) throw cause
    throw new DatabaseRefusedError(
      `The role ${client.user} lacks a privilege (${cause.message}). Grant it, or use another role.`,
      { cause },
    )
  } finally {
    await client.end()
  }
}
