import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Order, Seen } from './load.ts'
import { type Scenario, scenarios, written } from './scenarios.ts'

const run = promisify(execFile)

/** More requests than a server answers in this time: a write must not be sent twice. */
const WRITES_PER_SECOND = 8_000
const DIFFERENT_READS = 4_096

/** Whether wrk (Debian package `wrk`) is installed. It takes a tenth of the processor that a generator in Node.js takes. */
export async function hasWrk(): Promise<boolean> {
  // Without a URL it prints its usage and fails; only a missing program has no exit status.
  return run('wrk', ['-v']).then(
    () => true,
    (error: { code?: unknown }) => typeof error.code === 'number',
  )
}

/** Whether wrk can send a scenario: requests that depend on the last response of their connection it cannot. */
export function isForWrk(name: string): boolean {
  return scenarios.some((scenario) => scenario.name === name && !scenario.first)
}

/** Loads a server with wrk, with one thread. A response with status 400 or above is a failure. */
export async function loadWithWrk(order: Order): Promise<Seen> {
  const scenario = scenarios.find(({ name }) => name === order.scenario) as Scenario
  const folder = await mkdtemp(join(tmpdir(), 'halgraph-wrk-'))
  try {
    await writeFile(join(folder, 'requests'), requests(scenario, order))
    await writeFile(join(folder, 'script.lua'), SCRIPT)
    const parameters = ['-t1', `-c${order.connections}`, `-d${order.seconds}s`, '--timeout', '10s']
    const script = ['-s', join(folder, 'script.lua'), order.origin, '--', join(folder, 'requests')]
    const { stdout } = await run('wrk', [...parameters, ...script])
    return JSON.parse(stdout.slice(stdout.lastIndexOf('{'))) as Seen
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The requests as they go over the wire, each after its length. */
function requests(scenario: Scenario, { origin, token, seconds, connections, rows }: Order): string {
  const isWrite = scenario.status === 201 || scenario.status === 204 || scenario.writes
  const count = isWrite ? WRITES_PER_SECOND * seconds : DIFFERENT_READS
  const shared = `Host: ${new URL(origin).host}\r\nAuthorization: Bearer ${token}\r\n`
  const all = Array.from({ length: count }, (_, index) => {
    const connection = {
      number: index % connections,
      count: Math.floor(index / connections),
      entityTag: undefined,
    }
    const text = written(scenario.next(connection, rows), shared)
    return `${Buffer.byteLength(text)}\n${text}`
  })
  return all.join('')
}

/** LuaJIT, as wrk runs it: reads the requests, sends one after the other, and prints a {@link Seen}. */
const SCRIPT = `
local requests = {}
local last = 0

function init(args)
  local file = assert(io.open(args[1], 'rb'))
  local length = file:read('*n')
  while length do
    file:read(1)
    requests[#requests + 1] = file:read(length)
    length = file:read('*n')
  end
  file:close()
end

function request()
  last = last % #requests + 1
  return requests[last]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"requestsPerSecond":%f,"p50":%f,"p99":%f,"failures":%d}',
    summary.requests, summary.requests / summary.duration * 1e6, latency:percentile(50) / 1000,
    latency:percentile(99) / 1000, errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
`
