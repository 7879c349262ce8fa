import { once } from 'node:events'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { jwtVerify } from 'jose'
import { createEmbedded, createTestFolder } from '../helpers/database/database.ts'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { createFaultyLink } from '../helpers/process/faulty-link.ts'
import { runCommand, runIn, startCommand } from '../helpers/service/commands.ts'
import { startProcess } from '../helpers/service/service-process.ts'

const server = findServer((reason) => console.log(`main: ${reason}`))
const claim = server ? test : test.skip

const STACK = /\n\s+at /

test('invalid settings are one line each, also those of the number of workers', async (t) => {
  const folder = await createTestFolder(t)
  const { errors, output, status } = await runIn(folder, 'start', { WORKERS: 'x', PORT: 'y' })
  t.deepEqual([status, output], [1, ''])
  t.regex(errors, /^Invalid settings:\n {2}PORT: .*\n {2}WORKERS: must be a whole number .*\n$/)
})

test('misspelled names in .env stop the start and name the setting that was meant', async (t) => {
  const folder = await createTestFolder(t)
  const lines = [
    'PROT=5402',
    'LOGLEVEL=warn',
    'GRAPQL_MAX_DEPHT=3',
    'port=5402',
    'NODE_EVN=production',
    'DATABASESTARTSECOND=1',
    'WORKER=1',
    'WORKERRS=1',
    'WIRKERS=1',
    'PLANET_REFERENCES=strict',
  ]
  // Two edits from DOMAIN, which is too short for that to be a mistake, and three from WORKERS.
  const others = [
    'REMAIN=x',
    'DATABASE_PASSWORD=x',
    'OTEL_SERVICE_NAME=x',
    'TZ=UTC',
    'HOME=/',
    'WIRRER=1',
    'COMPOSE_PROJECT_NAME=x',
  ]
  await writeFile(join(folder, '.env'), [...lines, ...others, 'HOST=127.0.0.1'].join('\n'))
  // A name of the environment is not looked at: others set it, for other programs.
  for (const name of ['start', 'token', 'doctor', 'export']) {
    const parameters = name === 'export' ? ['species'] : []
    const { errors, output, status } = await runIn(folder, name, { PORTS: '1' }, ...parameters)
    t.is(status, 1)
    const problems = `${errors}${output}`.match(/^ +\S+: unknown setting in \.env; did you mean \S+\?$/gm)
    t.deepEqual(problems?.map((line) => line.trim().split(/: .* mean /)).sort(), [
      ['DATABASESTARTSECOND', 'DATABASE_START_SECONDS?'],
      ['GRAPQL_MAX_DEPHT', 'GRAPHQL_MAX_DEPTH?'],
      ['LOGLEVEL', 'LOG_LEVEL?'],
      ['NODE_EVN', 'NODE_ENV?'],
      ['PLANET_REFERENCES', 'PLANET_REFERENCE?'],
      ['PROT', 'PORT?'],
      ['WIRKERS', 'WORKERS?'],
      ['WORKER', 'WORKERS?'],
      ['WORKERRS', 'WORKERS?'],
      ['port', 'PORT?'],
    ])
    t.notRegex(errors, STACK)
  }
  t.deepEqual(await readdir(folder), ['.env'])
})

test('a variable of the environment takes precedence over .env, for the domain as well', async (t) => {
  const folder = await createTestFolder(t)
  const [inFile, given] = ['x'.repeat(32), 'y'.repeat(32)]
  await writeFile(join(folder, '.env'), `JWT_SECRET=${inFile}\n`)
  const verify = ({ output }: { output: string }, secret: string) =>
    jwtVerify(output.trim(), Buffer.from(secret))
  await t.notThrowsAsync(verify(await runIn(folder, 'token', { JWT_SECRET: given }), given))
  await t.notThrowsAsync(verify(await runIn(folder, 'token', {}), inFile))
  await writeFile(join(folder, '.env'), 'DOMAIN=in-the-file\n')
  t.regex((await runIn(folder, 'token', {})).errors, /in-the-file/)
  t.regex((await runIn(folder, 'token', { DOMAIN: 'given' })).errors, /no index\.ts in [^\n]*given\./)
})

test('a .env file that cannot be read is a problem', async (t) => {
  const folder = await createTestFolder(t)
  await mkdir(join(folder, '.env'))
  const { errors, status } = await runIn(folder, 'start', {})
  t.is(status, 1)
  t.regex(errors, /^Invalid settings:\n {2}\.env: cannot be read: .*\n$/)
})

test('unknown arguments are exit status 2 and name --help', async (t) => {
  const folder = await createTestFolder(t)
  for (const argument of ['--port', 'now']) {
    const { errors, status } = await runIn(folder, 'start', {}, argument)
    t.is(status, 2)
    t.regex(errors, /\nSee --help for the usage\.\n$/)
    t.notRegex(errors, STACK)
  }
  t.deepEqual(await readdir(folder), [])
})

test('of a database and an operation that cannot be used, the database is reported', async (t) => {
  const folder = await createTestFolder(t)
  const operations = join(folder, 'operations')
  await mkdir(operations)
  await writeFile(join(operations, 'Unknown.graphql'), '{ unknown }')
  const { errors, status } = await runIn(folder, 'start', {
    DATABASE_URL: 'postgresql://127.0.0.1:1/none',
    DATABASE_START_SECONDS: '0',
    GRAPHQL_OPERATIONS_DIR: operations,
  })
  t.is(status, 1)
  t.regex(errors, /^The database at 127\.0\.0\.1:1 cannot be reached[^\n]*\n$/)
})

test('an address that cannot be used is one message with the setting to change', async (t) => {
  const { dataDir } = await createEmbedded(t)
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(async () => void other.close())
  const { port } = other.address() as AddressInfo
  for (const [environment, message] of [
    [{ HOST: '127.0.0.1', PORT: String(port) }, `PORT: ${port} is in use on 127.0.0.1; .* set another PORT`],
    [{ HOST: '192.0.2.1' }, 'HOST: 192.0.2.1 is not an address of this machine; set another HOST'],
    [{ HOST: 'no.such.host.invalid' }, 'HOST: no.such.host.invalid is not an address of this machine'],
  ] as const) {
    const { errors, status } = await runIn(dataDir, 'start', { DATA_DIR: dataDir, ...environment })
    t.is(status, 1)
    t.regex(errors, new RegExp(`^Invalid settings:\n  ${message}.*\n$`))
  }
})

claim(
  'the service and commands wait for a database that cannot be reached yet, and say so once',
  async (t) => {
    const databaseUrl = new URL(await createDatabaseOn(server as string, t))
    const link = await createFaultyLink(new URL(databaseUrl), t)
    databaseUrl.host = `127.0.0.1:${link.port}`
    const environment = { DATABASE_URL: databaseUrl.href, DATABASE_START_SECONDS: '3600' }
    link.set('down')
    const service = startProcess(environment, t)
    const commands = ['migrate', 'doctor'].map((name) => startCommand(name, environment))
    const ended = commands.map(async (command) => {
      const [errors] = await Promise.all([text(command.stderr), once(command, 'exit')])
      return { errors, status: command.exitCode }
    })
    const waiting = [service.child.stdout, ...commands.map(({ stderr }) => stderr)]
    await Promise.all(waiting.map((output) => output && once(output, 'data')))
    link.set('open')
    await service.origin
    t.is(service.output().match(/"waiting for the database"/g)?.length, 1)
    for (const { errors, status } of await Promise.all(ended)) {
      t.is(status, 0, errors)
      t.regex(errors, /^The database at 127.0.0.1:\d+ cannot be reached: .*\. Waiting for up to 3600 s\.\n$/)
    }
  },
)

claim('a database that refuses the connection is not waited for', async (t) => {
  const missing = new URL('/no_such_database', server).href
  const settings = { DATABASE_URL: missing, DATABASE_START_SECONDS: '3600' }
  const { errors, status } = await runCommand('start', settings)
  t.is(status, 1)
  t.regex(errors, /^The database at .* cannot be reached: .*no_such_database.*\n$/)
})
