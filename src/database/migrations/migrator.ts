import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import { type Connection, DatabaseRefusedError } from '../connection.ts'
import { missingFeatures } from './engine-features.ts'
import { type Baseline, type Migration, readBaseline, readMigrations } from './migration-files.ts'
import { createRecord, MIGRATION_LOCK, type MigrationState, readState, recordOf } from './migration-state.ts'
import { createSchemas, moveStatement } from './schemas.ts'
import { type Transact, withSession } from './session.ts'
import { statementsOf } from './statements.ts'

/** What one transaction applies, and the steps that Prisma records: one for `migrate deploy`, none for `migrate resolve`. */
interface Batch extends Baseline {
  readonly title: string
  readonly steps: 0 | 1
}

/**
 * Applies the pending migrations in order, each in one transaction with the advisory lock, and records them
 * like `prisma migrate deploy`, in the internal schema. If one fails, the previous ones remain applied. An empty database
 * begins with the baseline, if there is one.
 *
 * @returns the names of the migrations that it has applied, oldest first
 * @throws DatabaseRefusedError
 */
export function migrate(connection: Connection, folder: string): Promise<string[]> {
  return withSession(connection, async (transact, schema) => {
    const migrations = await readMigrations(folder)
    const state = await transact((client) => readState(client, schema, migrations))
    refuse(state)
    // A role without the right to create tables can use a migrated database.
    if (state.pending.length === 0 && state.misplaced.length === 0) return []
    const isDistributed = state.internal === schema
    if (state.applied.length === 0 && !connection.isEmbedded && !isDistributed) {
      const lacking = await missingFeatures(transact, schema)
      const message = `The server lacks features that the service needs: ${lacking.join('; ')}. See docs/ENGINES.md.`
      if (lacking.length > 0) throw new DatabaseRefusedError(message)
    }
    const transactLocked: Transact = (work) =>
      transact(async (client) => {
        await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
        return work(client)
      })
    // In a database of an earlier version, this moves the internal tables.
    await transactLocked(async (client) => {
      await createSchemas(client, schema)
      await createRecord(client)
      await client.query(moveStatement(schema, state.internal))
    })
    const batches = migrations.map((migration): Batch => {
      return { title: `Migration ${migration.name}`, sql: migration.sql, covered: [migration], steps: 1 }
    })
    const baseline = state.applied.length === 0 ? await readBaseline(folder, migrations) : undefined
    if (isDistributed && state.applied.length === 0 && !baseline)
      throw new DatabaseRefusedError(
        'A distributed schema begins with a baseline of all migrations: npx halgraph resource baseline',
      )
    if (baseline) batches.unshift({ title: 'The baseline', ...baseline, steps: 0 })
    const applied: string[] = []
    for (const batch of batches) {
      if (!batch.covered.every(({ name }) => state.pending.includes(name) && !applied.includes(name)))
        continue
      const work = transactLocked((client) => apply(client, schema, batch, migrations))
      const names = await work.catch((cause) => {
        if (cause instanceof DatabaseRefusedError) throw cause
        throw new DatabaseRefusedError(`${batch.title} failed and was rolled back: ${cause.message}`, {
          cause,
        })
      })
      applied.push(...names)
    }
    return applied
  })
}

/** @throws DatabaseRefusedError if the database cannot be reached or is not supported */
export function migrationState(connection: Connection, folder: string): Promise<MigrationState> {
  return withSession(connection, async (transact, schema) => {
    const migrations = await readMigrations(folder)
    return transact((client) => readState(client, schema, migrations))
  })
}

/** @throws DatabaseRefusedError if the database cannot be reached, or the role must not create tables */
export function lackingFeatures(connection: Connection): Promise<string[]> {
  return withSession(connection, missingFeatures)
}

/** @throws DatabaseRefusedError if the database does not have exactly the migrations of this version */
export async function refuseUnmigrated(connection: Connection, folder: string): Promise<void> {
  const state = await migrationState(connection, folder)
  refuse(state)
  const { pending, misplaced } = state
  if (pending.length === 0 && misplaced.length === 0) return
  const reason =
    pending.length > 0
      ? `lacks ${pending.length} migration(s), beginning with ${pending[0]}`
      : `has ${misplaced.join(', ')} in the schema of the resources, as in earlier versions`
  throw new DatabaseRefusedError(
    `The database ${reason}. Migrate it with \`npx halgraph migrate\`, or set MIGRATE_ON_START=true.`,
  )
}

/** @throws DatabaseRefusedError if the database is of another domain, or has unknown, edited or failed migrations */
function refuse(state: MigrationState): void {
  if (state.applied.length === 0 && state.unknown.length > 0) {
    throw new DatabaseRefusedError(
      'The database has the tables of another domain. Set DATA_DIR or DATABASE_URL to another database, or DOMAIN to that domain.',
    )
  }
  const problems = [
    ...state.unknown.map((name) => `${name} is applied but unknown: the database is of a newer version`),
    ...state.edited.map((name) => `${name} was edited after it was applied`),
    ...state.failed.map((name) => `${name} was started by another tool and did not finish`),
  ]
  if (problems.length === 0) return
  throw new DatabaseRefusedError(
    `The database does not match the migrations of this version: ${problems.join('; ')}. ` +
      'Start the matching version, then continue with `npx halgraph migrate`.',
  )
}

/** Applies migrations unless another process has applied them meanwhile. Returns what it applied. */
async function apply(
  client: Client,
  schema: string,
  { sql, covered, steps }: Batch,
  migrations: Migration[],
): Promise<string[]> {
  const state = await readState(client, schema, migrations)
  refuse(state)
  if (!covered.every(({ name }) => state.pending.includes(name))) return []
  await refuseInvalidIndexes(client, schema, sql)
  // An index that was built beforehand is kept. Landed migrations may lack IF NOT EXISTS.
  const text = sql.replaceAll('CREATE INDEX "', 'CREATE INDEX IF NOT EXISTS "')
  const { internal } = state
  for (const statement of internal === schema ? distributedStatements(text) : [text])
    await client.query(statement)
  await client.query(moveStatement(schema, internal))
  for (const { checksum, name } of covered) {
    await client.query(
      `INSERT INTO ${recordOf(internal)} (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), clock_timestamp(), $4)`,
      [randomUUID(), checksum, name, steps],
    )
  }
  return covered.map(({ name }) => name)
}

/**
 * Citus executes one statement at a time, and renames no constraints. It knows no SET STORAGE, which only saves processor time. It
 * calls triggers unsafe, because they can be on another node than the rows that they change. These are on the same one.
 */
function distributedStatements(sql: string): readonly string[] {
  const statements = statementsOf(sql).filter((text) => !/ SET STORAGE \w+;$/.test(text))
  return ['SET LOCAL citus.enable_unsafe_triggers TO on', ...statements.map(withoutRenaming)]
}

const RENAMING = /ALTER TABLE "(\w+)" RENAME CONSTRAINT "(\w+)" TO "(\w+)";$/

function withoutRenaming(statement: string): string {
  return statement.replace(RENAMING, (_, table, old, name) => {
    return `DO $$ DECLARE definition text; BEGIN
      SELECT pg_get_constraintdef(oid) INTO definition FROM pg_constraint WHERE conrelid = '"${table}"'::regclass AND conname = '${old}';
      ALTER TABLE "${table}" DROP CONSTRAINT "${old}";
      EXECUTE 'ALTER TABLE "${table}" ADD CONSTRAINT "${name}" ' || definition; END $$`
  })
}

/** An index is invalid while CREATE INDEX CONCURRENTLY builds it, and when that has failed. */
async function refuseInvalidIndexes(client: Client, schema: string, sql: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     WHERE NOT indisvalid AND relnamespace = quote_ident($1)::regnamespace
       AND strpos($2, 'CREATE INDEX') > 0 AND strpos($2, '"' || relname || '"') > 0`,
    [schema, sql],
  )
  const [invalid] = rows
  if (!invalid) return
  throw new DatabaseRefusedError(
    `The index ${invalid.name} is invalid: wait until it is built, or drop it, then migrate again.`,
  )
}
