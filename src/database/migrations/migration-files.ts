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
