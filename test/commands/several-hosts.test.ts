import test from 'ava'
import { createTestFolder } from '../helpers/database/database.ts'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { runCommand } from '../helpers/service/commands.ts'
import { startProcess } from '../helpers/service/service-process.ts'

const REFUSAL = /DATABASE_URL: must name one host; for several servers, that of a proxy that checks them/

/** Of a server, if there is one, and of another host. */
const several = 'postgresql://postgres@127.0.0.1:5432,127.0.0.1:5433/x'

for (const [command, ...parameters] of [
  ['migrate'],
  ['seed'],
  ['restored'],
  ['studio'],
  ['export', 'planets'],
  ['import', 'planets', 'planets.ndjson'],
  ['token'],
] as const) {
  test(`${command} refuses several hosts in DATABASE_URL, with the reason`, async (t) => {
    const { status, errors } = await runCommand(command, { DATABASE_URL: several }, ...parameters)
    t.is(status, 1)
    t.regex(errors, REFUSAL)
    t.notRegex(errors, /\n\s+at /)
  })
}

test('doctor reports several hosts as a problem of the settings', async (t) => {
  const { status, output } = await runCommand('doctor', { DATABASE_URL: several })
  t.is(status, 1)
  t.regex(output, REFUSAL)
})

test('the service does not start with several hosts, with the reason', async (t) => {
  const service = startProcess({ DATABASE_URL: several, DATA_DIR: await createTestFolder(t) }, t)
  t.is((await service.exited).code, 1)
  t.regex(service.output(), REFUSAL)
})

test('variables of one host complete an address, and several are refused', async (t) => {
  const server = findServer(t.log)
  if (!server) return t.pass()
  const { hostname, port, pathname, username, password } = new URL(await createDatabaseOn(server, t))
  const one = { PGHOST: hostname, PGPORT: port || '5432', PGUSER: username, PGPASSWORD: password }
  const environment = { ...one, DATABASE_URL: `postgresql://${pathname}` }
  const migrated = await runCommand('migrate', environment)
  t.deepEqual([migrated.status, migrated.output.trim()], [0, 'The database is up to date'])
  const refused = await runCommand('migrate', { ...environment, PGHOST: `${hostname},localhost` })
  t.is(refused.status, 1)
  t.regex(refused.errors, /PGHOST: must name one host/)
})
