import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg, { type ClientConfig } from 'pg'
import { lock } from 'proper-lockfile'
import { parseConnection } from '../../../src/database/connection.ts'
import {
  type Database,
  type DatabaseOptions,
  openDatabase,
  openSharedDatabase,
} from '../../../src/database/database.ts'
import type { DatabaseClient } from '../../../src/database/database-client.ts'
import { openEmbeddedDatabase } from '../../../src/database/embedded/embedded-database.ts'
import type { PrismaClient } from '../../../src/database/generated/client.ts'
import { readMigrations } from '../../../src/database/migrations/migration-files.ts'
import { migrate } from '../../../src/database/migrations/migrator.ts'
import { moveStatement } from '../../../src/database/migrations/schemas.ts'
import { addressOf, schemaOf } from '../../../src/database/namespaces/registry.ts'
import { tables } from '../domain/domain.ts'
import { FAST_FOLDER } from '../process/fast-folder.ts'
import { takeTurn } from '../process/turns.ts'
import { hostileDefaults } from './hostile-defaults.ts'

const execute = promisify(execFile)

/** The database with the type of the built-in domain's client, which most tests are about. */
export type TestDatabase = Omit<Database, 'client'> & {
  readonly client: DatabaseClient & { readonly prisma: PrismaClient }
}

type EmbeddedOptions = Pick<DatabaseOptions, 'embeddedFsync' | 'databaseTimeout'>

/** Which database a test uses. */
export type TestOptions = Omit<DatabaseOptions, 'tables' | keyof EmbeddedOptions> & Partial<EmbeddedOptions>

/** Commands on a busy machine take longer than requests. */
const EMBEDDED: EmbeddedOptions = { embeddedFsync: false, databaseTimeout: 60_000 }

/** A server accepts a hundred connections unless told otherwise, and tests have more than ten databases at a time. */
export const POOL_SIZE = 4

/** A busy server accepts a connection late. */
const patience = { seconds: 60, report: () => {} }

/** The tables are those of the tested domain. */
const common = { ...EMBEDDED, patience, tables: async () => tables }

/** Opens a database with the tables of the domain that is tested. */
export async function openTestDatabase(options: TestOptions): Promise<TestDatabase> {
  return (await openDatabase({ ...common, ...options })) as TestDatabase
}

/** Opens it as commands do, which share it with a service. */
export async function openSharedTestDatabase(options: TestOptions): Promise<TestDatabase> {
  return (await openSharedDatabase({ ...common, ...options })) as TestDatabase
}

/** Who owns what a test made: usually ava's `t`. */
export interface Owner {
  teardown(release: () => Promise<void>): void
}

/**
 * A migrated, empty database of the owner's own, gone at teardown: a new one on the PostgreSQL server of
 * TEST_DATABASE_URL, or, without that, an embedded one. Both are copies of a template that is made once
 * for each state of the migrations.
 */
export function createTestDatabase(owner: Owner): Promise<TestOptions> {
  const server = process.env['TEST_DATABASE_URL']
  return server ? createOnServer(server, owner) : createEmbedded(owner)
}

/** An embedded database of the owner's own, migrated and empty, whatever TEST_DATABASE_URL says. */
export async function createEmbedded(owner: Owner): Promise<TestOptions> {
  const dataDir = await copyTemplate(await fingerprint(), owner, (folder) =>
    openTestDatabase({ dataDir: folder, migrateOnStart: true, databasePoolSize: 1 }),
  )
  return { dataDir, migrateOnStart: true, databasePoolSize: POOL_SIZE }
}

/** A database of the owner's own without any table: on the server of TEST_DATABASE_URL, or an embedded one. */
export async function createEmptyDatabase(owner: Owner): Promise<ClientConfig> {
  const server = process.env['TEST_DATABASE_URL']
  if (server) return { connectionString: await createServerDatabase(server, owner) }
  const open = (folder: string) => openEmbeddedDatabase(folder, EMBEDDED)
  const embedded = await open(await copyTemplate('empty', owner, open))
  owner.teardown(() => embedded.close())
  return embedded.connection
}

/**
 * A folder of the owner's own, with a short path, gone at teardown.
 *
 * @param parent must be on a disk for copies of the project, which link to its files
 */
export async function createTestFolder(owner: Owner, parent = FAST_FOLDER): Promise<string> {
  await takeTurn(owner)
  const folder = await mkdtemp(join(parent, 'hg-'))
  // A process that was just killed may still write.
  owner.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/**
 * A new empty database on the PostgreSQL server, dropped at teardown; resolves to its address. Its defaults
 * are hostile, so that every test on a server shows that the service does not depend on them.
 */
export async function createServerDatabase(server: string, owner: Owner, template?: string): Promise<string> {
  await takeTurn(owner)
  const name = `halgraph_test_${randomBytes(8).toString('hex')}`
  await administer(server, async (client) => {
    await client.query(`CREATE DATABASE ${name}${template ? ` TEMPLATE ${template}` : ''}`)
    await client.query(hostileDefaults(name))
  })
  owner.teardown(async () => {
    await administer(server, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`))
  })
  return withName(server, name)
}

async function createOnServer(server: string, owner: Owner): Promise<TestOptions> {
  const databaseUrl = await createServerDatabase(server, owner, await serverTemplate(server))
  return {
    databaseUrl,
    dataDir: await createTestFolder(owner),
    migrateOnStart: false,
    databasePoolSize: POOL_SIZE,
  }
}

/** A data folder of the owner's own: a copy of the template of that name, which is made once by opening it. */
async function copyTemplate(
  name: string,
  owner: Owner,
  open: (folder: string) => Promise<{ close(): Promise<void> }>,
): Promise<string> {
  const template = await embeddedTemplate(name, open)
  const dataDir = await createTestFolder(owner)
  // Node's own functions take four times as long, and the synchronous one stops all other tests of the process.
  await execute('cp', ['-R', join(template, 'postgres'), dataDir])
  return dataDir
}

function embeddedTemplate(
  name: string,
  open: (folder: string) => Promise<{ close(): Promise<void> }>,
): Promise<string> {
  return madeOnce(join(FAST_FOLDER, `hg-cluster-${name}`), async (unfinished) => {
    await (await open(unfinished)).close()
    await dropTemplates(unfinished)
  })
}

/** A folder that processes share: the first that needs it makes it, the others wait for that. */
export async function madeOnce(path: string, make: (unfinished: string) => Promise<void>): Promise<string> {
  const parent = `${path}.making`
  await mkdir(parent, { recursive: true })
  const isMade = () => stat(path).catch(() => undefined)
  const unlock = await lock(parent, {
    retries: { retries: 6_000, factor: 1, minTimeout: 100, maxTimeout: 100 },
    // Another process took over, because this one did not get the processor for long. Both make the same.
    onCompromised: () => {},
  })
  try {
    if (await isMade()) return path
    const unfinished = await mkdtemp(join(parent, 'd'))
    await make(unfinished)
    await rename(unfinished, path).catch(async (error) => {
      if (!(await isMade())) throw error
    })
    return path
  } finally {
    await unlock().catch(() => {})
  }
}

/** More than half of the files of a cluster belong to databases that no test uses: half of the time of a copy. */
async function dropTemplates(folder: string): Promise<void> {
  const embedded = await openEmbeddedDatabase(folder, EMBEDDED)
  const client = new pg.Client(embedded.connection)
  await client.connect()
  await client.query('UPDATE pg_database SET datistemplate = false')
  for (const name of ['template0', 'template1']) await client.query(`DROP DATABASE ${name}`)
  await client.end()
  await embedded.close()
}

/** The name of a migrated database that is made once, which also has the schemas of namespaces. */
export function serverTemplate(
  server: string,
  migrations = tables.migrations,
  namespaces: readonly string[] = [],
): Promise<string> {
  return administer(server, async (client) => {
    const name = `halgraph_template_${await fingerprint(migrations, namespaces)}`
    // Held until the connection ends, so that parallel test files make one template between them.
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [name])
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name])
    if (rowCount) return name
    const unfinished = `${name}_making`
    await client.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`)
    await client.query(`CREATE DATABASE ${unfinished}`)
    const address = withName(server, unfinished)
    for (const one of [
      address,
      ...namespaces.map((namespace) => addressOf({ schema: schemaOf(namespace), address }, address)),
    ])
      await migrate(parseConnection(one), migrations)
    await client.query(`ALTER DATABASE ${unfinished} RENAME TO ${name}`)
    return name
  })
}

/** Sends statements to a database. */
export async function administer<Result>(
  server: string,
  use: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

function withName(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** Changes whenever a migration does, or what the migrator does after it; the engine, because it may change statements. */
async function fingerprint(
  migrations = tables.migrations,
  namespaces: readonly string[] = [],
): Promise<string> {
  const checksums = (await readMigrations(migrations)).map(({ name, checksum }) => `${name} ${checksum}\n`)
  return createHash('sha256')
    .update(checksums.join('') + moveStatement('public') + (process.env['TEST_ENGINE'] ?? '') + namespaces)
    .digest('hex')
    .slice(0, 16)
}
