import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { DatabaseRefusedError } from '../../src/database/connection.ts'
import { sessionStatement } from '../../src/database/session.ts'
import { createTestFolder, openTestDatabase } from '../helpers/database/database.ts'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { valuesComeBack } from '../helpers/database/round-trip.ts'
import { until } from '../helpers/process/until.ts'
import { createClient } from '../helpers/service/client.ts'
import { startTestService } from '../helpers/service/service.ts'
import { PROCESS_TOKEN, startProcess } from '../helpers/service/service-process.ts'

const server = findServer((reason) => console.log(`sessions: ${reason}`))
const claim = server ? test : test.skip

async function administer(connectionString: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

const nameOf = (address: string) => new URL(address).pathname.slice(1)

/** Creates a login role, dropped at teardown, and returns the URL of the database for it. */
async function createRole(t: ExecutionContext, address: string, grants: (role: string) => string) {
  const role = `halgraph_test_${randomBytes(8).toString('hex')}`
  await administer(address, `CREATE ROLE ${role} LOGIN PASSWORD 'unused'; ${grants(role)}`)
  t.teardown(() => administer(address, `DROP OWNED BY ${role}; DROP ROLE ${role}`))
  const url = new URL(address)
  url.username = role
  url.password = 'unused'
  return url.href
}

for (const zone of ['America/New_York', 'Asia/Kolkata', 'Europe/Amsterdam']) {
  claim(`values come back as they were sent where the database is in ${zone}`, async (t) => {
    const databaseUrl = await createDatabaseOn(server as string, t)
    await administer(databaseUrl, `ALTER DATABASE ${nameOf(databaseUrl)} SET timezone TO '${zone}'`)
    const { writer } = await startTestService(t, { databaseUrl })
    await valuesComeBack(t, writer)
  })
}

test('values are returned as sent if the process has another time zone', async (t) => {
  const address = process.env['TEST_DATABASE_URL']
  const environment = address
    ? { DATABASE_URL: await createDatabaseOn(address, t) }
    : { DATA_DIR: await createTestFolder(t) }
  const service = startProcess({ ...environment, TZ: 'America/New_York' }, t)
  const origin = await service.origin
  await valuesComeBack(t, createClient(origin, `${origin}/api/v1`, PROCESS_TOKEN))
})

claim('settings that DATABASE_URL asks for give way to those of the service', async (t) => {
  const url = new URL(await createDatabaseOn(server as string, t))
  url.searchParams.set('options', '-c timezone=Asia/Kolkata -c datestyle=SQL -c search_path=elsewhere')
  const { writer } = await startTestService(t, { databaseUrl: url.href })
  await valuesComeBack(t, writer)
})

test('a session whose settings another client has changed is not ready', async (t) => {
  const { database, anonymous, origin } = await startTestService(t, { databasePoolSize: 1, changesDays: 0 })
  const readiness = async () => (await anonymous.get(`${origin}/health/ready`)).status
  // On a busy machine the check may take longer than a probe waits.
  const untilReady = async () => {
    while ((await readiness()) !== 200) await delay(50)
  }
  await untilReady()
  // With these settings, the deletion of expired keys still works. If it failed, the pool would open another session.
  const path = 'search_path TO pg_catalog, public, public_internal'
  for (const setting of ['datestyle TO German', 'timezone TO 1', path]) {
    await database.pool.query(`SET ${setting}`)
    t.is(await readiness(), 503, setting)
    await database.pool.query(sessionStatement())
    await untilReady()
  }
})

test('a process whose database does not answer within a second is not ready', async (t) => {
  const { database, anonymous, origin } = await startTestService(t, { databasePoolSize: 1, changesDays: 0 })
  const readiness = async () => (await anonymous.get(`${origin}/health/ready`)).status
  const connection = await database.pool.connect()
  t.is(await readiness(), 503)
  connection.release()
  await until(async () => (await readiness()) === 200)
})

test('a batch waits for a connection longer than the two seconds after which Prisma gives up', async (t) => {
  const { database, writer } = await startTestService(t, { databasePoolSize: 1, changesDays: 0 })
  const connection = await database.pool.connect()
  const operations = [{ method: 'POST', path: '/planets', body: { name: 'Patient' } }]
  const written = writer.post('/batch', { operations })
  await delay(2_500)
  connection.release()
  t.is((await written).status, 200)
})

claim(
  'a role that may only read and write rows can run the service, and start it with migrations',
  async (t) => {
    const address = await createDatabaseOn(server as string, t)
    await administer(address, 'REVOKE CREATE ON SCHEMA public FROM PUBLIC')
    const databaseUrl = await createRole(
      t,
      address,
      (
        role,
      ) => `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public, public_internal TO ${role};
      ALTER ROLE ${role} SET search_path TO nowhere; ALTER ROLE ${role} SET timezone TO 'Asia/Kolkata'`,
    )
    for (const [migrateOnStart, changesDays] of [
      [false, 30],
      [true, 0],
    ] as const) {
      const { writer } = await startTestService(t, { databaseUrl, migrateOnStart, changesDays })
      const planet = (await writer.post('/planets', { name: `Made ${migrateOnStart}` })).body
      // As if another session had taken the number of this one before.
      await administer(address, "SELECT setval('public_internal.recorded_changes_serial_seq', 1)")
      t.is((await writer.patch(`/planets/${planet.id}`, { host_star: 'Sol' })).status, 204)
      await administer(
        address,
        `SET search_path TO public;
          INSERT INTO moons (planet_id, id, name) SELECT '${planet.id}', 'm' || n, 'M' || n FROM generate_series(1, 1001) n`,
      )
      t.is((await writer.delete(`/planets/${planet.id}`)).status, 204)
    }
  },
)

claim('a role that may only read cannot turn the record of changes off', async (t) => {
  const address = await createDatabaseOn(server as string, t)
  const databaseUrl = await createRole(
    t,
    address,
    (role) => `GRANT SELECT ON ALL TABLES IN SCHEMA public, public_internal TO ${role}`,
  )
  for (const statement of [
    'UPDATE public_internal.change_feed SET days = 0',
    'SELECT public.keep_changes(0)',
  ]) {
    await t.throwsAsync(administer(databaseUrl, statement), {
      message: /permission denied for table change_feed/,
    })
  }
})

claim('a role that must create tables without the right to do so is refused', async (t) => {
  const name = `halgraph_test_${randomBytes(8).toString('hex')}`
  await administer(server as string, `CREATE DATABASE ${name}`)
  t.teardown(() => administer(server as string, `DROP DATABASE ${name} WITH (FORCE)`))
  const address = new URL(server as string)
  address.pathname = `/${name}`
  await administer(address.href, 'REVOKE CREATE ON SCHEMA public FROM PUBLIC')
  const databaseUrl = await createRole(t, address.href, () => '')
  const options = { databaseUrl, dataDir: '', migrateOnStart: true, databasePoolSize: 1 }
  const { username } = new URL(databaseUrl)
  await t.throwsAsync(openTestDatabase(options), {
    instanceOf: DatabaseRefusedError,
    message: new RegExp(`"public_internal" is missing, and the role ${username} may not create it`),
  })
  await administer(address.href, `CREATE SCHEMA public_internal AUTHORIZATION ${username}`)
  await t.throwsAsync(openTestDatabase(options), {
    instanceOf: DatabaseRefusedError,
    message: /permission denied for schema public/,
  })
})

claim('a database that cannot store every character is refused', async (t) => {
  const name = `halgraph_test_${randomBytes(8).toString('hex')}`
  await administer(
    server as string,
    `CREATE DATABASE ${name} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
  )
  t.teardown(() => administer(server as string, `DROP DATABASE ${name} WITH (FORCE)`))
  const url = new URL(server as string)
  url.pathname = `/${name}`
  for (const migrateOnStart of [false, true]) {
    await t.throwsAsync(
      openTestDatabase({ databaseUrl: url.href, dataDir: '', migrateOnStart, databasePoolSize: 1 }),
      {
        instanceOf: DatabaseRefusedError,
        message: /The encoding of the database is LATIN1.*ENCODING 'UTF8'/,
      },
    )
  }
})
