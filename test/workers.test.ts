import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import anyTest from 'ava'
import { mintToken } from '../src/development-token.ts'
import { createTestDatabase, createTestFolder } from './helpers/database.ts'

const server = process.env['TEST_DATABASE_URL']
// The embedded database serves one process.
const test = server ? anyTest : anyTest.skip

const secret = 'a secret that only these workers know'
const entry = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const tokenOf = (subject: string) =>
  mintToken(
    { jwt: { kind: 'secret', secret }, jwtIssuer: undefined, jwtAudience: undefined },
    { scope: '*:read *:write', subject, expiresIn: '1h' },
  )
const [token, other] = [tokenOf('one'), tokenOf('other')]

interface LogLine {
  readonly msg: string
  readonly pid: number
  readonly origin: string
}

test('workers share a port and a rate limit, another takes the place of one that dies, and a signal ends all (needs TEST_DATABASE_URL)', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const child = spawn(process.execPath, ['--import=tsx', entry], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: databaseUrl,
      DATA_DIR: await createTestFolder(t),
      JWT_SECRET: secret,
      HOST: '127.0.0.1',
      PORT: '0',
      WORKERS: '2',
      DATABASE_POOL_SIZE: '2',
      RATE_LIMIT: '20',
    },
  })
  const exit = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exit
  })
  const workers: LogLine[] = []
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const listening = async (count: number) => {
    while (workers.length < count) {
      const line = JSON.parse((await lines.next()).value) as LogLine
      if (line.msg === 'listening') workers.push(line)
    }
  }
  const get = (path: string, bearer = token) =>
    fetch(`${workers[0]?.origin}/api/v1${path}`, {
      headers: { Authorization: `Bearer ${bearer}`, Connection: 'close' },
    })
  const name = async (path: string) => ((await (await get(path)).json()) as { name: string }).name

  await listening(2)
  t.is(workers[0]?.origin, workers[1]?.origin)
  t.not(workers[0]?.pid, workers[1]?.pid)
  const put = await fetch(`${workers[0]?.origin}/api/v1/planets/kepler-22b`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ id: 'kepler-22b', name: 'Kepler-22b' }),
  })
  t.is(put.status, 201)
  for (let request = 0; request < 6; request++) t.is(await name('/planets/kepler-22b'), 'Kepler-22b')

  process.kill(workers[0]?.pid as number, 'SIGKILL')
  await listening(3)
  for (let request = 0; request < 6; request++) t.is(await name('/planets/kepler-22b'), 'Kepler-22b')

  const statuses: number[] = []
  for (let request = 0; request < 30; request++) statuses.push((await get('/species', other)).status)
  t.deepEqual(statuses, [...Array(20).fill(200), ...Array(10).fill(429)])

  child.kill('SIGTERM')
  t.deepEqual(await exit, [0, null])
  for (const { pid } of workers) t.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
})

test('workers that cannot start end the service (needs TEST_DATABASE_URL)', async (t) => {
  const child = spawn(process.execPath, ['--import=tsx', entry], {
    stdio: 'ignore',
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: 'postgresql://127.0.0.1:1/none',
      DATA_DIR: await createTestFolder(t),
      JWT_SECRET: secret,
      PORT: '0',
      WORKERS: '2',
    },
  })
  t.deepEqual(await once(child, 'exit'), [1, null])
})
