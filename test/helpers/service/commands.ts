import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import {
  createTestDatabase,
  createTestFolder,
  type Owner,
  openSharedTestDatabase,
  openTestDatabase,
  type TestDatabase,
  type TestOptions,
} from '../database/database.ts'
import type { Json } from './client.ts'
import { ENGINE_OPTIONS } from './service-process.ts'

/**
 * A migrated, empty database and a folder for files. Commands find the database open, as beside a running service,
 * or else open it themselves.
 */
export async function createSetup(owner: Owner, { isOpen = true } = {}) {
  const options = await createTestDatabase(owner)
  const open = isOpen ? await openTestDatabase(options) : undefined
  owner.teardown(async () => open?.close())
  return {
    environment: environmentFor(options),
    folder: await createTestFolder(owner),
    use: <Result>(action: (database: TestDatabase) => Promise<Result>) =>
      open ? action(open) : withDatabase(options, action),
  }
}

/** The settings of a command for a database. A busy machine is no reason for it to give up. */
export function environmentFor({
  databaseUrl,
  dataDir,
}: Pick<TestOptions, 'databaseUrl' | 'dataDir'>): NodeJS.ProcessEnv {
  const place = databaseUrl === undefined ? { DATA_DIR: dataDir } : { DATABASE_URL: databaseUrl }
  return { DATABASE_TIMEOUT: '60000', ...place }
}

/**
 * A file of moons. Their names are not unique, so only the import itself prevents duplicates. The import opens the
 * database itself.
 */
export async function prepareMoons(owner: Owner, count: number) {
  const setup = await createSetup(owner, { isOpen: false })
  const file = join(setup.folder, 'moons.ndjson')
  const row = JSON.stringify({ planet_id: 'kepler', name: 'Same name' })
  await writeFile(file, `${row}\n`.repeat(count))
  await setup.use(({ client }) => client.prisma.planet.create({ data: { id: 'kepler', name: 'Kepler' } }))
  return { setup, file, begin: () => startCommand('import', setup.environment, 'moons', file) }
}

async function withDatabase<Result>(
  options: TestOptions,
  action: (database: TestDatabase) => Promise<Result>,
): Promise<Result> {
  const database = await openSharedTestDatabase(options)
  try {
    return await action(database)
  } finally {
    await database.close()
  }
}

/** Starts a command of the executable by its name. */
export function startCommand(name: string, environment: NodeJS.ProcessEnv, ...parameters: string[]) {
  return startIn(process.cwd(), name, environment, ...parameters)
}

function startIn(folder: string, name: string, environment: NodeJS.ProcessEnv, ...parameters: string[]) {
  const entry = fileURLToPath(new URL('../../../bin/halgraph.js', import.meta.url))
  return spawn(process.execPath, [...ENGINE_OPTIONS, entry, name, ...parameters], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], ...environment },
  })
}

/** Runs a command to its end; resolves to its exit status and all that it printed. */
export function runCommand(name: string, environment: NodeJS.ProcessEnv, ...parameters: string[]) {
  return runIn(process.cwd(), name, environment, ...parameters)
}

/** The same with another working folder, whose `.env` it reads. */
export async function runIn(
  folder: string,
  name: string,
  environment: NodeJS.ProcessEnv,
  ...parameters: string[]
) {
  const child = startIn(folder, name, environment, ...parameters)
  const outputs = Promise.all([text(child.stdout), text(child.stderr)])
  const [status] = await once(child, 'close')
  const [output, errors] = await outputs
  return { output, errors, status }
}

/** The rows that an import of the file refused. */
export async function refusedRows(file: string): Promise<Json[]> {
  const lines = (await readFile(`${file}.errors.ndjson`, 'utf8')).trim().split('\n')
  return lines.map((line) => JSON.parse(line))
}
