import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** One folder of prisma/migrations. */
export interface Migration {
  /** The folder's name, which begins with a timestamp and so sorts by age. */
  name: string
  sql: string
  /** The SHA-256 of the file in hexadecimal, which is what Prisma records. */
  checksum: string
}

/** From src/database as from dist/database. */
const MIGRATIONS = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url))

/** Reads the migrations of a folder, oldest first. */
export async function readMigrations(folder: string = MIGRATIONS): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(names.sort().map((name) => readMigration(folder, name)))
}

async function readMigration(folder: string, name: string): Promise<Migration> {
  const file = await readFile(join(folder, name, 'migration.sql'))
  return { name, sql: file.toString('utf8'), checksum: createHash('sha256').update(file).digest('hex') }
}
