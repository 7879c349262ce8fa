import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseRefusedError } from '../connection.ts'

export interface Migration {
  readonly name: string
  /** With the line ends of Unix, whichever the file has: Git can change them. */
  readonly sql: string
  readonly checksum: string
  /** Those of the same statements with other line ends, as databases can have recorded them. */
  readonly others?: readonly string[]
}

/**
 * Reads the migrations of a folder, oldest first.
 *
 * @throws DatabaseRefusedError if there is no such folder
 */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause) => {
    const reason = `There are no migrations in ${folder}: run npx halgraph resource migrate`
    throw new DatabaseRefusedError(reason, { cause })
  })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(names.sort().map((name) => readMigration(folder, name)))
}

async function readMigration(folder: string, name: string): Promise<Migration> {
  const file = await readFile(join(folder, name, 'migration.sql'), 'utf8')
  const sql = withUnixLines(file)
  return { name, sql, checksum: digest(sql), others: [digest(file), digest(sql.replaceAll('\n', '\r\n'))] }
}

export function withUnixLines(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

/** Prisma records the same checksum. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** What the migrations of a domain make together, for an empty database. */
export interface Baseline {
  readonly sql: string
  /** The migrations that it stands for, oldest first. */
  readonly covered: readonly Migration[]
}

const COVERS = /^-- Covers: (\S+) (\S+)$/m

/** The file of the baseline, beside the folder of the migrations. */
export function baselineFile(migrations: string): string {
  return join(migrations, '..', 'baseline.sql')
}

/** The line of a baseline that names the last migration and the checksum of all that it covers. */
export function coverageLine(covered: readonly Migration[]): string {
  return `-- Covers: ${covered.at(-1)?.name} ${checksumOf(covered)}`
}

/** Undefined if there is none, or if a migration that it covers was edited or added since. */
export async function readBaseline(folder: string, migrations: readonly Migration[]) {
  const sql = withUnixLines(await readFile(baselineFile(folder), 'utf8').catch(() => ''))
  const [, last = '', checksum] = COVERS.exec(sql) ?? []
  const covered = migrations.filter(({ name }) => name <= last)
  return checksum !== undefined && checksum === checksumOf(covered) ? { sql, covered } : undefined
}

function checksumOf(covered: readonly Migration[]): string {
  const lines = covered.map(({ name, checksum }) => `${name} ${checksum}\n`)
  return digest(lines.join(''))
}
