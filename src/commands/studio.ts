import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Connection, parseConnection } from '../database/connection.ts'
import { refuseMissing } from '../database/embedded/folder.ts'
import { DEFAULT_SCHEMA, sessionSettings } from '../database/session.ts'
import { tableName } from '../model/definition/resource.ts'
import { CommandError, databaseConfiguration, runCommand } from '../service/command.ts'
import { withDatabase } from './shared-database.ts'

const usage = `Opens Prisma Studio, a table editor in the browser, on the database of the service.

  npx halgraph studio --port 5555

Shows the PostgreSQL server of DATABASE_URL, or else the embedded database in DATA_DIR. The service can be running.
Prisma is a development dependency: install it with \`npm ci --include=dev\`.`

await runCommand(usage, { options: { port: { type: 'string', default: '5555' } } }, async ({ values }) => {
  const configuration = await databaseConfiguration()
  const { databaseUrl, dataDir } = configuration.settings
  const program = findPrisma()
  const connection = databaseUrl === undefined ? undefined : parseConnection(databaseUrl)
  const { schema = DEFAULT_SCHEMA } = connection ?? {}
  const [first] = configuration.domain.resources
  // By default, Studio opens the schema `public` and the table that PostgreSQL lists first.
  const selected = new URLSearchParams({ schema, ...(first && { table: tableName(first.path) }) })
  const run = (address: NodeJS.ProcessEnv) => runStudio(program, values.port, selected, address)
  if (connection) return run({ DATABASE_URL: withSession(connection) })
  await refuseMissing(dataDir)
  // Studio's driver (postgres.js) takes the folder of a socket only from the environment.
  await withDatabase(configuration, ({ pool: { options } }) =>
    run({ DATABASE_URL: 'postgresql:///postgres', PGHOST: options.host, PGUSER: options.user }),
  )
})

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
function withSession({ connectionString = '', schema }: Connection): string {
  const url = new URL(connectionString)
  url.searchParams.delete('uselibpqcompat')
  for (const [name, value] of Object.entries(sessionSettings(schema))) url.searchParams.set(name, value)
  return url.href
}

/**
 * Runs Prisma Studio until it exits or this process receives a signal. prisma.config.ts reads the URL from the
 * environment, because every user of the machine can read arguments.
 */
async function runStudio(program: string, port: string, view: URLSearchParams, address: NodeJS.ProcessEnv) {
  const studio = spawn(process.execPath, [program, 'studio', '--browser', 'none', '--port', port], {
    cwd: fileURLToPath(new URL('../../', import.meta.url)),
    stdio: ['inherit', 'pipe', 'inherit'],
    env: { ...process.env, ...address, CHECKPOINT_DISABLE: '1', PRISMA_HIDE_UPDATE_MESSAGE: '1' },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => studio.kill('SIGTERM'))
  createInterface(studio.stdout).on('line', (line) => {
    console.log(line.replace(`http://localhost:${port}`, `$&/#${view}`))
  })
  process.exitCode = (await once(studio, 'exit'))[0] ?? 0
}
