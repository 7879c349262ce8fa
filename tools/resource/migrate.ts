import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import {
  type Migration,
  readMigrations,
  withUnixLines,
} from '../../src/database/migrations/migration-files.ts'
import type { Domain } from '../../src/model/definition/domain.ts'
import type { Resource } from '../../src/model/definition/resource.ts'
import { CommandError } from '../../src/service/command.ts'
import type { DomainFolder } from '../../src/service/settings/domain-folder.ts'
import type { Decisions } from './changes/comparison.ts'
import { migrationSql } from './changes/step.ts'
import { explain } from './explanation.ts'
import { ENGINE } from './location.ts'
import { updatedSchema } from './models/schema.ts'
import { nameProblems } from './name-problems.ts'
import { linesOf, type PlanOptions, planMigration } from './plan.ts'

export type GeneratedFiles = Pick<DomainFolder, 'schema' | 'migrations'>

export interface Update {
  /** Files to write, by absolute path. */
  readonly files: ReadonlyMap<string, string>
  /** The text of the Prisma schema, changed or not. */
  readonly schema: string
  /** What the new migration does and which locks it takes; empty without a migration. */
  readonly explanation: string
  /** Why some tables are not migrated, one line each; empty if all are. */
  readonly refusals: string
}

const LOCK_FILE = '# The database of these migrations.\nprovider = "postgresql"\n'

interface UpdateOptions extends PlanOptions {
  /** Of the new migration, in lower case with underscores. */
  readonly name?: string | undefined
  /** Of the API. */
  readonly versions?: Domain['versions'] | undefined
}

/**
 * Compares the definitions of a domain with its migrations and its Prisma schema. A domain without migrations first gets
 * that of the engine.
 *
 * @throws {CommandError} as {@link planMigration} does
 */
export async function planUpdate(
  resources: readonly Resource[],
  { schema, migrations }: GeneratedFiles,
  decisions: Decisions,
  { name, versions = [], ...options }: UpdateOptions = {},
): Promise<Update> {
  const now = new Date()
  const problems = nameProblems(resources)
  if (problems.length > 0) throw new CommandError(problems.join('\n'))
  const files = new Map<string, string>()
  const existing = existsSync(migrations) ? await readMigrations(migrations) : []
  if (existing.length === 0) files.set(join(migrations, 'migration_lock.toml'), LOCK_FILE)
  for (const added of await engineMigrations(existing, now)) {
    files.set(join(migrations, added.name, 'migration.sql'), added.sql)
    existing.push(added)
  }
  const plan = await planMigration(resources, existing, decisions, options)
  if (plan.steps.length > 0) {
    const changed = name ?? [...new Set(plan.steps.map(({ table }) => table))].slice(0, 3).join('_')
    const folder = `${nextTimestamp(now, existing.at(-1)?.name ?? '')}_${changed}`
    files.set(join(migrations, folder, 'migration.sql'), migrationSql(plan.steps, plan.warnings))
  }
  const before = withUnixLines(await readFile(existsSync(schema) ? schema : ENGINE.schema, 'utf8'))
  const after = updatedSchema(before, resources, new Set(plan.refused.map(({ table }) => table)))
  if (before !== after || !existsSync(schema)) files.set(schema, after)
  const explanation = plan.steps.length > 0 ? explain(plan, versions) : ''
  return { files, schema: after, explanation, refusals: linesOf(plan.refused) }
}

/** What a domain lacks of the engine. An addition has its name, or creates a table or a function of its name. */
async function engineMigrations(existing: readonly Migration[], now: Date): Promise<Migration[]> {
  const parts = Object.entries(ENGINE.additions).filter(
    ([name]) =>
      !existing.some(
        ({ name: folder, sql }) =>
          folder.endsWith(`_${name}`) || new RegExp(`CREATE (TABLE|FUNCTION) "?${name}\\b`).test(sql),
      ),
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

/** After a crash, each file is complete or missing, and the next update writes what is missing. */
export async function writeUpdate({ files }: Pick<Update, 'files'>): Promise<void> {
  for (const [path, text] of files) {
    const folder = dirname(path)
    // A folder without its migration would be refused, so both appear at once, from beside the folder of migrations.
    const isMigration = basename(path) === 'migration.sql'
    const [target, temporary] = isMigration ? [folder, `${dirname(folder)}.new`] : [path, `${path}.new`]
    const file = isMigration ? join(temporary, basename(path)) : temporary
    await rm(temporary, { recursive: true, force: true })
    await mkdir(dirname(target), { recursive: true })
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text, { flush: true })
    await rename(temporary, target)
  }
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
