import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import anyTest, { type ExecutionContext } from 'ava'
import { createTestDatabase, createTestFolder } from '../helpers/database/database.ts'
import { type Outcome, send } from '../helpers/load/load.ts'
import { createFaultyLink } from '../helpers/process/faulty-link.ts'
import { accessToken } from '../helpers/service/access-token.ts'
import { MAIN, startProcess } from '../helpers/service/service-process.ts'

const server = process.env['TEST_DATABASE_URL']
// The embedded database serves one process.
const test = server ? anyTest : anyTest.skip

const secret = 'a secret that only these workers know'
const tokenOf = (subject: string) => accessToken({ secret, scope: '*:read *:write', subject })
const [token, other] = [tokenOf('one'), tokenOf('other')]

interface LogLine {
  readonly msg: string
  readonly pid: number
  readonly origin: string
}

/** Starts a service with workers, which ends with the test. */
async function startWorkers(t: ExecutionContext, environment: NodeJS.ProcessEnv) {
  const own = { PATH: process.env['PATH'], DATA_DIR: await createTestFolder(t), HOST: '127.0.0.1', PORT: '0' }
  const child = spawn(process.execPath, [MAIN], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...own, DATABASE_POOL_SIZE: '2', ...environment },
  })
  const exit = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exit
  })
  return { child, exit }
}

test('workers share a port and a rate limit, another takes the place of one that dies, and a signal ends all (needs TEST_DATABASE_URL)', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const { child, exit } = await startWorkers(t, {
    DATABASE_URL: databaseUrl,
    JWT_SECRET: secret,
    WORKERS: '2',
    DATABASE_TIMEOUT: '60000',
    RATE_LIMIT: '20',
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
  t.is(put.status, 201, await put.clone().text())
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

test('several workers print one token (needs TEST_DATABASE_URL)', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const { child } = await startWorkers(t, { DATABASE_URL: databaseUrl, WORKERS: '3' })
  const output = text(child.stdout)
  let listening = 0
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.includes('"msg":"listening"')) listening += 1
    if (listening === 3) break
  }
  await delay(500)
  child.kill('SIGTERM')
  const printed = await output
  t.is(printed.match(/Token for these pages/g)?.length, 1, printed)
})

test('metrics of any worker are those of all workers (needs TEST_DATABASE_URL)', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const variables = { DATABASE_URL: databaseUrl, WORKERS: '3', METRICS: 'true', DATABASE_POOL_SIZE: '2' }
  const service = startProcess(variables, t)
  const origin = await service.origin
  const pids = () =>
    [...service.output().matchAll(/"pid":(\d+)[^\n]*"msg":"listening"/g)].map(([, pid]) => Number(pid))
  const until = async (isTrue: () => boolean) => {
    for (let wait = 0; !isTrue() && wait < 600; wait++) await delay(50)
    t.true(isTrue())
  }
  // A new connection for each request, so that the workers take turns.
  const get = (path: string) => fetch(`${origin}${path}`, { headers: { Connection: 'close' } })
  const counted = async () => {
    const response = await get('/metrics')
    const text = await response.text()
    t.is(response.status, 200, text)
    t.is(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
    t.is(text.match(/^# TYPE halgraph_http_request_duration_seconds histogram$/gm)?.length, 1)
    return Number(/_count\{method="GET",route="\/health\/live",status="200"\} (\d+)/.exec(text)?.[1])
  }
  await until(() => pids().length === 3)
  for (let request = 0; request < 30; request++) await (await get('/health/live')).text()
  for (let scrape = 0; scrape < 9; scrape++) t.is(await counted(), 30)
  t.deepEqual(await Promise.all(Array.from({ length: 9 }, counted)), Array(9).fill(30))

  process.kill(pids()[0] as number, 'SIGKILL')
  await until(() => service.output().includes('worker died'))
  // On a busy machine the worker that takes its place can be too late with its metrics.
  t.true([200, 503].includes((await get('/metrics')).status))
  await until(() => pids().length === 4)
  t.true((await counted()) < 30)
})

test('a worker that dies while the database is away is replaced later, and the others go on (needs TEST_DATABASE_URL)', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const address = new URL(databaseUrl as string)
  const link = await createFaultyLink(new URL(address), t)
  address.host = `127.0.0.1:${link.port}`
  const settings = { DATABASE_URL: address.href, DATABASE_START_SECONDS: '0', DATABASE_POOL_SIZE: '2' }
  const service = startProcess({ ...settings, WORKERS: '2' }, t)
  const origin = await service.origin
  const count = (message: string) => service.output().split(`"msg":"${message}"`).length - 1
  const until = async (isTrue: () => boolean) => {
    for (let wait = 0; !isTrue() && wait < 600; wait++) await delay(50)
    t.true(isTrue(), service.output())
  }
  const isAlive = async () =>
    (await fetch(`${origin}/health/live`, { headers: { Connection: 'close' } })).status === 200

  await until(() => count('listening') === 2)
  link.set('down')
  process.kill(Number(/"pid":(\d+)[^\n]*"msg":"listening"/.exec(service.output())?.[1]), 'SIGKILL')
  // The second one to die is the replacement, which cannot start without a database.
  await until(() => count('worker died') >= 2)
  t.true(await isAlive())
  link.set('open')
  await until(() => count('listening') === 3)
  t.true(await isAlive())
  t.is(service.child.exitCode, null)
})

test('a worker goes on limiting callers when the process that counts for all does not answer (needs TEST_DATABASE_URL)', async (t) => {
  const { databaseUrl = '' } = await createTestDatabase(t)
  const service = startProcess({ DATABASE_URL: databaseUrl, WORKERS: '2', RATE_LIMIT: '2' }, t)
  const origin = await service.origin
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const statuses: unknown[] = []
  const get = async () => {
    const outcome = await send(origin, { method: 'GET', path: '/api/v1/species' }, agent)
    statuses.push(outcome.kind === 'answered' ? outcome.status : outcome)
  }
  await get()
  // The connection is the worker's own by now.
  service.kill('SIGSTOP')
  for (let request = 0; request < 3; request++) await get()
  service.kill('SIGCONT')
  t.deepEqual(statuses, [200, 200, 200, 429])
})

test('while workers are killed, every connection is answered or closed (needs TEST_DATABASE_URL)', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const service = startProcess({ DATABASE_URL: databaseUrl, WORKERS: '4', DATABASE_POOL_SIZE: '2' }, t)
  const pids: number[] = []
  service.child.stdout?.on('data', (lines: Buffer) => {
    pids.push(
      ...[...`${lines}`.matchAll(/"pid":(\d+)[^\n]*"msg":"listening"/g)].map(([, pid]) => Number(pid)),
    )
  })
  const { hostname, port } = new URL(await service.origin)
  const listening = async (count: number) => {
    for (let wait = 0; pids.length < count && wait < 600; wait++) await delay(50)
    t.true(pids.length >= count)
  }
  await listening(4)
  const open = new Set<Socket>()
  let areKilled = false
  const call = async () => {
    while (!areKilled) {
      const socket = connect(Number(port), hostname).on('error', () => {})
      open.add(socket)
      socket.resume().end('GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
      await new Promise((resolve) => socket.once('close', resolve))
      open.delete(socket)
    }
  }
  const callers = Array.from({ length: 24 }, call)
  t.teardown(() => {
    for (const socket of open) socket.destroy()
  })
  for (let kills = 0; kills < 4; kills++) {
    process.kill(pids[kills] as number, 'SIGKILL')
    await listening(5 + kills)
  }
  areKilled = true
  for (let wait = 0; open.size > 0 && wait < 600; wait++) await delay(50)
  t.is(open.size, 0)
  await Promise.all(callers)
})

test('while workers stop, connections are accepted until the last has left, and then refused (needs TEST_DATABASE_URL)', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  for (let stops = 0; stops < 3; stops++) {
    const service = startProcess({ DATABASE_URL: databaseUrl, WORKERS: '4', DATABASE_POOL_SIZE: '2' }, t)
    const origin = await service.origin
    const outcomes: Outcome[] = []
    const isRefused = () => outcomes.at(-1)?.kind === 'refused'
    const call = async () => {
      const headers = { connection: 'close' }
      outcomes.push(await send(origin, { method: 'GET', path: '/api/v1/species', headers }))
    }
    while (new Set(service.output().match(/"pid":\d+/g)).size < 4) await delay(50)
    const inTurn = Array.from({ length: 24 }, async () => {
      while (!isRefused()) await call()
    })
    // Others connect whatever becomes of the connections before, while all workers but the last leave.
    let isLeaving = true
    const calls: Promise<void>[] = []
    const paced = (async () => {
      for (; isLeaving; await delay(10)) calls.push(call())
    })()
    await delay(500)
    service.kill('SIGTERM')
    await delay(1_050)
    isLeaving = false
    await Promise.all([...inTurn, paced])
    await Promise.all(calls)
    t.deepEqual(
      outcomes.filter(({ kind }) => kind === 'lost'),
      [],
    )
    t.deepEqual(await service.exited, { code: 0, signal: null })
  }
})

test('workers close connections beyond MAX_CONNECTIONS (needs TEST_DATABASE_URL)', async (t) => {
  const { databaseUrl = '' } = await createTestDatabase(t)
  const limits = { WORKERS: '2', DATABASE_POOL_SIZE: '2', MAX_CONNECTIONS: '2' }
  const service = startProcess({ DATABASE_URL: databaseUrl, ...limits }, t)
  const { hostname, port } = new URL(await service.origin)
  const sockets = Array.from({ length: 12 }, () => connect(Number(port), hostname).on('error', () => {}))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  for (let wait = 0; sockets.filter(({ closed }) => closed).length < 8 && wait < 200; wait++) await delay(50)
  t.true(sockets.filter(({ closed }) => closed).length >= 8)
})

test('workers that cannot start end the service, with one message (needs TEST_DATABASE_URL)', async (t) => {
  const child = spawn(process.execPath, [MAIN], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: 'postgresql://127.0.0.1:1/none',
      DATABASE_START_SECONDS: '0',
      DATA_DIR: await createTestFolder(t),
      JWT_SECRET: secret,
      PORT: '0',
      WORKERS: '2',
    },
  })
  const [errors] = await Promise.all([text(child.stderr), once(child, 'exit')])
  t.is(child.exitCode, 1)
  t.regex(errors, /^The database at .* cannot be reached[^\n]*\n$/)
})
