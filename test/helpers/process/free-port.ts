import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { Owner } from '../database/database.ts'

/** A port of this machine that no program listens on just now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
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
