import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Migration, withUnixLines } from './migration-files.ts'

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
export async function readBaseline(
  folder: string,
  migrations: readonly Migration[],
): Promise<Baseline | undefined> {
  const sql = withUnixLines(await readFile(baselineFile(folder), 'utf8').catch(() => ''))
  const [, last = '', checksum] = COVERS.exec(sql) ?? []
  const covered = migrations.filter(({ name }) => name <= last)
  return checksum !== undefined && checksum === checksumOf(covered) ? { sql, covered } : undefined
}

function checksumOf(covered: readonly Migration[]): string {
  const lines = covered.map(({ name, checksum }) => `${name} ${checksum}\n`)
  return createHash('sha256').update(lines.join('')).digest('hex')
}
