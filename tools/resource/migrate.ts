import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { type Migration, readMigrations } from '../../src/database/migrations/migration-files.ts'
import type { Resource } from '../../src/model/resource.ts'
import { CommandError } from '../../src/service/command.ts'
import type { DomainFolder } from '../../src/service/settings/domain-folder.ts'
import type { Decisions } from './changes/comparison.ts'
import { explain } from './explanation.ts'
import { ENGINE } from './location.ts'
import { updatedSchema } from './models/schema.ts'
import { planMigration } from './plan.ts'
import { migrationSql } from './sql.ts'
import { makeTable } from './tables/table.ts'

export type GeneratedFiles = Pick<DomainFolder, 'schema' | 'migrations'>

export interface Update {
  /** Files to write, by absolute path. */
  readonly files: ReadonlyMap<string, string>
  /** What the new migration does and which locks it takes; empty without a migration. */
  readonly explanation: string
}

const LOCK_FILE = '# The database of these migrations.\nprovider = "postgresql"\n'

/**
 * Compares the definitions of a domain with its migrations and its Prisma schema. A domain without migrations first gets
 * that of the engine.
 *
 * @param options `name` of the new migration, in lower case with underscores; `engine` to compare in
 * @throws {CommandError} if the migration is impossible, or would lose data without permission
 */
export async function planUpdate(
  resources: readonly Resource[],
  { schema, migrations }: GeneratedFiles,
  decisions: Decisions,
  { name, engine }: { readonly name?: string | undefined; readonly engine?: PGlite } = {},
): Promise<Update> {
  const now = new Date()
  refuseNames(resources)
  const files = new Map<string, string>()
  const existing = existsSync(migrations) ? await readMigrations(migrations) : []
  if (existing.length === 0) files.set(join(migrations, 'migration_lock.toml'), LOCK_FILE)
  for (const added of await engineMigrations(existing, now)) {
    files.set(join(migrations, added.name, 'migration.sql'), added.sql)
    existing.push(added)
  }
  const plan = await planMigration(resources, existing, decisions, engine)
  if (plan.steps.length > 0) {
    const changed = name ?? [...new Set(plan.steps.map(({ table }) => table))].slice(0, 3).join('_')
    const folder = `${nextTimestamp(now, existing.at(-1)?.name ?? '')}_${changed}`
    files.set(join(migrations, folder, 'migration.sql'), migrationSql(plan.steps, plan.warnings))
  }
  const before = await readFile(existsSync(schema) ? schema : ENGINE.schema, 'utf8')
  const after = updatedSchema(before, resources)
  if (before !== after || !existsSync(schema)) files.set(schema, after)
  return { files, explanation: plan.steps.length > 0 ? explain(plan) : '' }
}

/** What a domain lacks of the engine. An addition creates a table or a function of its name. */
async function engineMigrations(existing: readonly Migration[], now: Date): Promise<Migration[]> {
  const parts = Object.entries(ENGINE.additions).filter(
    ([name]) => !existing.some(({ sql }) => new RegExp(`CREATE (TABLE|FUNCTION) "?${name}\\b`).test(sql)),
  )
  if (existing.length === 0) parts.unshift(['engine', ENGINE.migration])
  const added: Migration[] = []
  for (const [name, file] of parts) {
    const last = added.at(-1) ?? existing.at(-1)
    const folder = `${nextTimestamp(now, last?.name ?? '')}_${name}`
    added.push({ name: folder, sql: await readFile(file, 'utf8'), checksum: '' })
  }
  return added
}

export async function writeUpdate({ files }: Update): Promise<void> {
  for (const [path, text] of files) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
}

/** PostgreSQL truncates longer names without an error. */
const LONGEST_NAME = 63

/** @throws {CommandError} for duplicate columns and for names that are too long */
function refuseNames(resources: readonly Resource[]): void {
  const problems = resources
    .map(makeTable)
    .flatMap(({ name, columns, checks, foreignKeys, indexes, resource }) => {
      const names = columns.map((column) => column.name)
      const twice = names.filter((column, index) => names.indexOf(column) !== index)
      const objects = [
        `${name}_row_count_insert`,
        ...[...columns, ...checks, ...foreignKeys, ...indexes].map((object) => object.name),
      ]
      const long = objects.filter((object) => Buffer.byteLength(object) > LONGEST_NAME)
      return [
        ...twice.map((column) => `${resource.path}: two fields have the column ${column}.`),
        ...long.map(
          (object) =>
            `${resource.path}: ${object} is longer than ${LONGEST_NAME} bytes. Shorten the field or the path.`,
        ),
      ]
    })
  if (problems.length > 0) throw new CommandError(problems.join('\n'))
}

/** Later than the last migration, even if the clock is not. */
function nextTimestamp(now: Date, last: string): string {
  const former = /^\d{14}/.exec(last)?.[0] ?? ''
  return timestamp(now) > former ? timestamp(now) : String(BigInt(former) + 1n)
}

/** As Prisma writes it: `20261121093000`. */
function timestamp(date: Date): string {
  return date.toISOString().replace(/\D/g, '').slice(0, 14)
}
