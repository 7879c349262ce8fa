import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Owner } from '../database/database.ts'
import { listenWith } from './listen-with.ts'

const CHECK_MILLISECONDS = 250

/** Checks that a service must fail one after the other. */
const FAILURES = 2

/**
 * A load balancer for services at these ports of this machine. It asks each for its readiness, and sends requests only to
 * those that are ready, in turn. It repeats a request only if the service refused the connection.
 */
export async function startBalancer(owner: Owner, ports: readonly number[]): Promise<string> {
  const agent = new Agent({ keepAlive: true })
  const ready = new Set<number>()
  const failures = new Map<number, number>()
  const check = async (port: number) => {
    // Node 20's fetch connects again for as long as the other side ends each connection at once.
    const signal = AbortSignal.timeout(CHECK_MILLISECONDS)
    const isReady = await fetch(`http://127.0.0.1:${port}/health/ready`, { signal }).then(
      ({ ok, body }) => body?.cancel().then(() => ok),
      () => false,
    )
    failures.set(port, isReady ? 0 : (failures.get(port) ?? 0) + 1)
    if (isReady) ready.add(port)
    else if (failures.get(port) === FAILURES) ready.delete(port)
  }
  const checking = setInterval(() => ports.forEach((port) => void check(port)), CHECK_MILLISECONDS)
  let turn = 0
  const pass = (from: IncomingMessage, body: Buffer, to: ServerResponse): void => {
    const port = [...ready][turn++ % ready.size]
    if (port === undefined) return void to.writeHead(502).end('No service is ready.')
    const { method, url, headers } = from
    const sending = request({ host: '127.0.0.1', port, path: url, method, headers, agent })
    sending.on('response', (response) => {
      to.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(to)
      // The client learns that the response is incomplete.
      response.on('error', () => to.destroy())
    })
    sending.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code !== 'ECONNREFUSED') return void to.destroy()
      ready.delete(port)
      pass(from, body, to)
    })
    to.on('close', () => sending.destroy())
    sending.end(body)
  }
  // Idle connections stay open, because a client may just be sending a request on one.
  const server = createServer({ keepAliveTimeout: 0 }, async (from, to) => pass(from, await buffer(from), to))
  owner.teardown(async () => {
    clearInterval(checking)
    agent.destroy()
  })
  await Promise.all(ports.map(check))
  return listenWith(owner, server)
}
