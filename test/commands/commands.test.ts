import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { type JWTVerifyOptions, jwtVerify } from 'jose'
import { developmentSecret } from '../../src/service/start/development-token.ts'
import {
  createEmbedded,
  createServerDatabase,
  createTestFolder,
  openTestDatabase,
} from '../helpers/database/database.ts'
import { findServer } from '../helpers/database/postgres-server.ts'
import { freePort } from '../helpers/process/free-port.ts'
import { runCommand as run, runIn, startCommand as start } from '../helpers/service/commands.ts'

const server = findServer((reason) => console.log(`claims about a server: ${reason}`))
const secret = 'a secret that is long enough for it'

const PLANETS = 'SELECT name FROM planets'

/** Starts Studio, waits until it serves, and sends it a statement as its page does. */
async function askStudio(
  t: ExecutionContext,
  environment: NodeJS.ProcessEnv,
  sql = PLANETS,
): Promise<unknown> {
  const port = await freePort()
  const studio = start('studio', environment, '--port', String(port))
  t.teardown(() => stop(studio))
  for await (const line of studio.stdout) if (String(line).includes(`:${port}`)) break
  const response = await fetch(`http://127.0.0.1:${port}/bff`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ procedure: 'query', query: { sql, parameters: [] } }),
  })
  return response.json()
}

/** What a printed token says, which must be signed with the secret. */
async function claimsOf(output: string, secret: string, options?: JWTVerifyOptions) {
  return (await jwtVerify(output.trim(), Buffer.from(secret), options)).payload
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

test.serial('token prints only a token, with all scopes by default', async (t) => {
  const environment = { JWT_SECRET: secret, JWT_ISSUER: 'me', JWT_AUDIENCE: 'halgraph' }
  const all = await run('token', environment)
  t.is(all.status, 0)
  t.is(all.errors, '')
  const claims = await claimsOf(all.output, secret, {
    algorithms: ['HS256'],
    issuer: 'me',
    audience: 'halgraph',
  })
  t.like(claims, { scope: '*:read *:write' })
  const some = await run(
    'token',
    environment,
    '--scope',
    'species:read',
    '--subject',
    'ada',
    '--expires-in',
    '90',
  )
  const given = await claimsOf(some.output, secret)
  t.like(given, { scope: 'species:read', sub: 'ada' })
  t.is((given.exp ?? 0) - (given.iat ?? 0), 90)
})

test.serial(
  'without a secret the token is signed with the development secret of the data folder',
  async (t) => {
    const dataDir = join(await createTestFolder(t), 'new')
    const secret = await developmentSecret(dataDir)
    const { output } = await run('token', { DATA_DIR: dataDir })
    t.is((await stat(dataDir)).mode & 0o777, 0o700)
    t.is((await stat(join(dataDir, 'development-secret'))).mode & 0o777, 0o600)
    t.like(await claimsOf(output, secret), { scope: '*:read *:write' })
  },
)

test.serial('token adds claims for access rules, which cannot replace the others', async (t) => {
  const claims = '{"role":"instructor","sub":"other"}'
  const environment = { JWT_SECRET: secret }
  const { output } = await run('token', environment, '--subject', 'ada', '--claims', claims)
  t.like(await claimsOf(output, secret), { role: 'instructor', sub: 'ada' })
  const { status, errors } = await run('token', environment, '--claims', '["role"]')
  t.is(status, 2)
  t.regex(errors, /--claims must be a JSON object/)
})

test.serial('token creates no development secret, because the service would not know it', async (t) => {
  const folder = await createTestFolder(t)
  const { errors, output, status } = await runIn(folder, 'token', {})
  t.deepEqual([status, output], [1, ''])
  t.true(errors.includes(`DATA_DIR: ${join(folder, '.data')} has no development secret`), errors)
  t.deepEqual(await readdir(folder), [])
  await writeFile(join(folder, 'development-secret'), 'short\n')
  t.regex((await run('token', { DATA_DIR: folder })).errors, /is damaged/)
})

test.serial('token refuses scopes that no request needs, and durations it does not know', async (t) => {
  for (const [parameters, message] of [
    [['--scope', 'spieces:read'], /--scope: unknown "spieces:read".*species, planets/],
    [['--scope', 'species:read *:delete'], /--scope: unknown "\*:delete"/],
    [['--scope', ''], /--scope: unknown ""/],
    [['--expires-in', 'foo'], /--expires-in must be seconds, or a duration such as 90m or 30d, not foo/],
    [['--expires-in', '0'], /--expires-in must be/],
    [['--scopes', 'x'], /--scopes/],
  ] as const) {
    const { errors, output, status } = await run('token', { JWT_SECRET: secret }, ...parameters)
    t.deepEqual([status, output], [2, ''])
    t.regex(errors, message)
    t.regex(errors, /\nSee --help for the usage\.\n$/)
  }
  const { output } = await run('token', { JWT_SECRET: secret }, '--scope', 'training-records:write *:read')
  t.like(await claimsOf(output, secret), { scope: 'training-records:write *:read' })
})

test.serial('processes that start at the same time use one development secret', async (t) => {
  const dataDir = await createTestFolder(t)
  const secrets = await Promise.all(Array.from({ length: 20 }, () => developmentSecret(dataDir)))
  t.is(new Set(secrets).size, 1)
})

test.serial(
  'a token that cannot be created is a message on standard error, with empty standard output',
  async (t) => {
    const keySet = { JWT_JWKS_URL: 'https://id.example.org/keys' }
    for (const [environment, parameters, status] of [
      [keySet, [], 1],
      [{ NODE_ENV: 'production' }, [], 1],
      [{ JWT_SECRET: secret }, ['--expires-in', 'soon'], 2],
      [{ JWT_SECRET: secret }, ['--scopes', 'x'], 2],
    ] as const) {
      const result = await run('token', environment, ...parameters)
      t.is(result.status, status)
      t.is(result.output, '')
      t.regex(result.errors, /\S/)
      t.notRegex(result.errors, /\n\s+at /)
    }
  },
)

test.serial('migrate applies migrations, lists them, and needs no token settings', async (t) => {
  const places = [
    { DATA_DIR: await createTestFolder(t) },
    ...(server ? [{ DATABASE_URL: await createServerDatabase(server, t) }] : []),
  ]
  for (const place of places) {
    const environment = { ...place, NODE_ENV: 'production' }
    t.regex((await run('migrate', environment)).output, /^Applied 20/)
    const again = await run('migrate', environment)
    t.is(again.output, 'The database is up to date\n')
    t.is(again.status, 0)
  }
})

test.serial('migrate works beside a service that has the embedded database open', async (t) => {
  const options = await createEmbedded(t)
  const database = await openTestDatabase(options)
  t.teardown(() => database.close())
  const { output, errors, status } = await run('migrate', { DATA_DIR: options.dataDir })
  t.deepEqual([output, errors, status], ['The database is up to date\n', '', 0])
})

test.serial(
  'restored raises the versions and positions that follow, beside a service and without one',
  async (t) => {
    const options = await createEmbedded(t)
    const database = await openTestDatabase(options)
    t.teardown(() => database.close())
    const environment = { DATA_DIR: options.dataDir, NODE_ENV: 'production' }
    const { version } = await database.client.prisma.planet.create({ data: { id: 'kept', name: 'Kept' } })
    const raised = async (one: typeof database) => {
      const { output, errors, status } = await run('restored', environment)
      t.deepEqual([/^The next changes get higher versions/.test(output), errors, status], [true, '', 0])
      const text = "UPDATE planets SET name = name || '+' RETURNING version"
      return (await one.client.$rows<{ version: number }>({ text, values: [] }))[0]?.version ?? 0
    }
    const first = await raised(database)
    t.true(first > version + 1_000_000)
    await database.close()
    await run('restored', environment)
    const again = await openTestDatabase(options)
    t.teardown(() => again.close())
    t.true((await raised(again)) > first + 2_000_000)
  },
)

test.serial('an unreachable database is one message and exit status 1', async (t) => {
  const { errors, status } = await run('migrate', {
    DATABASE_URL: 'postgresql://127.0.0.1:1/none',
    DATABASE_START_SECONDS: '0',
  })
  t.is(status, 1)
  t.regex(errors, /cannot be reached/)
  t.notRegex(errors, /\n\s+at /)
})

test.serial(
  'studio shows the rows of an embedded database, with and without a running service',
  async (t) => {
    const options = await createEmbedded(t)
    const database = await openTestDatabase(options)
    t.teardown(() => database.close())
    await database.client.prisma.planet.create({ data: { id: 'kepler-442b', name: 'Kepler-442b' } })
    const environment = { DATA_DIR: options.dataDir }
    t.deepEqual(await askStudio(t, environment), [null, [{ name: 'Kepler-442b' }]])
    await database.close()
    t.deepEqual(await askStudio(t, environment), [null, [{ name: 'Kepler-442b' }]])
  },
)

test.serial('studio uses the session settings of the service on a server', async (t) => {
  if (!server) {
    t.log('skipped: there is no PostgreSQL server')
    return t.pass()
  }
  const databaseUrl = await createServerDatabase(server, t)
  const sql = `SELECT current_setting('timezone') AS zone, current_setting('datestyle') AS style,
    current_setting('search_path') AS path, timestamptz '2031-06-01 06:07:08Z' AS moment`
  const row = {
    zone: 'UTC',
    style: 'ISO, MDY',
    path: '"public", "public_internal", "pg_temp"',
    moment: '2031-06-01T06:07:08.000Z',
  }
  t.deepEqual(await askStudio(t, { DATABASE_URL: databaseUrl }, sql), [null, [row]])
})
