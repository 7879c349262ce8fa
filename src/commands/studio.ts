import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseConnection } from '../database/connection.ts'
import { openEmbeddedDatabase } from '../database/embedded/embedded-database.ts'
import { prepareFolder, refuseMissing } from '../database/embedded/folder.ts'
import { SOCKET_NAME } from '../database/embedded/limits.ts'
import { answers } from '../database/embedded/lock.ts'
import { migrate } from '../database/migrations/migrator.ts'
import { DEFAULT_SCHEMA, sessionSettings } from '../database/session.ts'
import { tableName } from '../model/resource.ts'
import { CommandError, databaseConfiguration, runCommand } from '../service/command.ts'
import type { DomainFolder, LocatedDomain } from '../service/settings/domain-folder.ts'

const usage = `Opens Prisma Studio, a table editor in the browser, on the database of the service.

  npx halgraph studio --port 5555

Shows the PostgreSQL server of DATABASE_URL, or else the embedded database in DATA_DIR. The service may run. While
Studio runs, the embedded database listens on a loopback port without a password. Prisma is a development dependency:
install it with \`npm ci --include=dev\`.`

await runCommand(usage, { options: { port: { type: 'string', default: '5555' } } }, async ({ values }) => {
  const { settings, domain } = await databaseConfiguration()
  const { databaseUrl, dataDir } = settings
  const studio = { program: findPrisma(), port: values.port, view: firstView(domain, databaseUrl) }
  if (databaseUrl !== undefined) return runStudio(studio, withSession(databaseUrl))
  await withEmbedded(dataDir, domain.folder, (address) => runStudio(studio, address))
})

interface Studio {
  readonly program: string
  readonly port: string
  /** Fragment of the URL that selects a schema and a table. */
  readonly view: string
}

/** By default, Studio opens the schema `public` and the table that PostgreSQL lists first. */
function firstView({ resources: [first] }: LocatedDomain, databaseUrl: string | undefined): string {
  const { schema = DEFAULT_SCHEMA } = databaseUrl === undefined ? {} : parseConnection(databaseUrl)
  return String(
    new URLSearchParams({ schema, ...(first && { table: tableName(first.path) }), view: 'table' }),
  )
}

/** @throws {CommandError} in an installation without development dependencies */
function findPrisma(): string {
  try {
    return fileURLToPath(new URL('build/index.js', import.meta.resolve('prisma/package.json')))
  } catch {
    throw new CommandError(
      'Prisma Studio is not installed, because it is a development dependency. Install it with ' +
        '`npm ci --include=dev`, or run it in another installation with the DATABASE_URL of this one.',
    )
  }
}

/** Adds the session settings to the URL: Studio's driver (postgres.js) sends unknown parameters as start-up parameters. */
function withSession(databaseUrl: string): string {
  const { connectionString = '', schema } = parseConnection(databaseUrl)
  const url = new URL(connectionString)
  for (const [name, value] of Object.entries(sessionSettings(schema))) url.searchParams.set(name, value)
  return url.href
}

/** Studio's driver does not support Unix sockets, so a loopback port forwards to the socket while `use` runs. */
async function withEmbedded(
  dataDir: string,
  { migrations }: DomainFolder,
  use: (address: string) => Promise<void>,
): Promise<void> {
  await refuseMissing(dataDir)
  const folder = await prepareFolder(dataDir)
  const socketPath = join(folder.socketFolder, SOCKET_NAME)
  const own = (await answers(socketPath)) ? undefined : await openEmbeddedDatabase(dataDir)
  try {
    if (own) await migrate(own.connection, migrations)
    const bridge = await openBridge(socketPath)
    await use(`postgresql://postgres@127.0.0.1:${bridge.port}/postgres`)
    bridge.close()
  } finally {
    await own?.close()
  }
}

async function openBridge(socketPath: string): Promise<{ port: number; close(): void }> {
  const server = createServer((client) => {
    const database = connect(socketPath)
    client.on('error', () => database.destroy())
    database.on('error', () => client.destroy())
    client.pipe(database).pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => server.close() }
}

/**
 * Runs Prisma Studio until it exits or this process receives a signal. prisma.config.ts reads the URL from the
 * environment, because every user of the machine can read arguments.
 */
async function runStudio({ program, port, view }: Studio, address: string): Promise<void> {
  const studio = spawn(process.execPath, [program, 'studio', '--browser', 'none', '--port', port], {
    cwd: fileURLToPath(new URL('../../', import.meta.url)),
    stdio: ['inherit', 'pipe', 'inherit'],
    env: { ...process.env, DATABASE_URL: address, CHECKPOINT_DISABLE: '1', PRISMA_HIDE_UPDATE_MESSAGE: '1' },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => studio.kill('SIGTERM'))
  createInterface(studio.stdout).on('line', (line) => {
    console.log(line.replace(`http://localhost:${port}`, `$&/#${view}`))
  })
  const [code] = await once(studio, 'exit')
  process.exitCode = code ?? 0
}
