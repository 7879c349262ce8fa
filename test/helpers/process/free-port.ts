import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { Owner } from '../database/database.ts'

/** Below the ports that systems give to connections, any of which could take one before its program does. */
const ports = { first: 12_000, count: 18_000, perProcess: 40 }

let taken = 0

/** A port of this machine that no program listens on, that no connection gets, and that is given once. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < ports.count; tries++) {
    const port = ports.first + ((process.pid * ports.perProcess + taken++) % ports.count)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    await new Promise((resolve) => server.close(resolve))
    if (isFree) return port
  }
  throw new Error('each port is in use')
}

/** A port that no other program gets before it is released. Until then, each connection ends at once. */
export async function reservePort(owner: Owner) {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const release = async () => {
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  owner.teardown(release)
  return { port, release }
}
