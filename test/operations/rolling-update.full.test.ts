import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { send } from '../helpers/load/load.ts'
import { runRollingLoad } from '../helpers/load/rolling-load.ts'
import { startBalancer } from '../helpers/process/balancer.ts'
import { reservePort } from '../helpers/process/free-port.ts'
import { startHaproxy } from '../helpers/process/haproxy.ts'
import { startProcess } from '../helpers/service/service-process.ts'

const PROCESSES = 3

/** So that each state of the fleet lasts for a while. */
const BETWEEN_MILLISECONDS = 1_000

/** Responses one after the other, by which a proxy has checked each process: HAProxy takes all for ready at first. */
const RESPONSES = 20

/** Resolves when a proxy passes requests only to processes that are ready. */
async function untilReady(origin: string): Promise<void> {
  for (let responses = 0; responses < RESPONSES; await delay(100)) {
    const isReady = await fetch(`${origin}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
    responses = isReady ? responses + 1 : 0
  }
}

/** Replaces each process under load, through a proxy, and compares what clients have seen with what is stored. */
async function updateUnderLoad(
  t: ExecutionContext,
  startProxy: (t: ExecutionContext, ports: readonly number[]) => Promise<string | undefined>,
) {
  const server = findServer(t.log)
  if (!server) return t.pass()
  const databaseUrl = await createDatabaseOn(server, t)
  const start = (port: number) =>
    startProcess(
      { DATABASE_URL: databaseUrl, PORT: String(port), DATABASE_TIMEOUT: '60000', KEEP_ALIVE_SECONDS: '75' },
      t,
    )
  const next = await Promise.all(Array.from({ length: PROCESSES }, () => reservePort(t)))
  const processes = Array.from({ length: PROCESSES }, () => start(0))
  const origins = await Promise.all(processes.map(({ origin }) => origin))
  const former = origins.map((origin) => Number(new URL(origin).port))
  const proxy = await startProxy(t, [...former, ...next.map(({ port }) => port)])
  if (proxy === undefined) return t.pass()
  await untilReady(proxy)
  const ending = new AbortController()
  const loading = runRollingLoad(proxy, ending.signal)
  for (const [index, old] of processes.entries()) {
    await delay(BETWEEN_MILLISECONDS)
    const { port, release } = next[index] as (typeof next)[number]
    await release()
    await start(port).origin
    await delay(BETWEEN_MILLISECONDS)
    old.kill('SIGTERM')
    t.deepEqual(await old.exited, { code: 0, signal: null })
  }
  await delay(BETWEEN_MILLISECONDS)
  ending.abort()
  const { failures, responses, acknowledged, events, streams } = await loading
  t.log(`${JSON.stringify(responses)}, ${events.length} events over ${streams} connections`)
  t.deepEqual(failures.slice(0, 5), [])
  t.true((responses['GET'] ?? 0) > 20 && (responses['POST'] ?? 0) > 20 && (responses['PATCH'] ?? 0) > 20)
  t.true(streams > 1)
  t.deepEqual(events.toSorted(), acknowledged.toSorted())
  const stored = await send(proxy, { method: 'GET', path: '/api/v1/species?limit=1' })
  const created = acknowledged.filter((version) => version.endsWith(' 1')).length
  t.is(stored.kind === 'answered' && JSON.parse(stored.body).total_count, created)
  const versions = events.filter((event) => event.startsWith('changed-0 '))
  t.deepEqual(
    versions,
    versions.map((_, index) => `changed-0 ${index + 1}`),
  )
}

test.serial(
  'when each of three processes is replaced under load, no request fails and no write is lost',
  (t) => updateUnderLoad(t, startBalancer),
)

test.serial('the same behind HAProxy with the configuration of the fleet', (t) =>
  updateUnderLoad(t, startHaproxy),
)
