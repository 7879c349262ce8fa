import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseRefusedError } from '../connection.ts'

export type Migration = Awaited<ReturnType<typeof readMigration>>

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

async function readMigration(folder: string, name: string) {
  const file = await readFile(join(folder, name, 'migration.sql'))
  // Prisma records the same checksum.
  return { name, sql: file.toString('utf8'), checksum: createHash('sha256').update(file).digest('hex') }
}
