import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { Owner } from '../database/database.ts'

/** What becomes of the bytes between a client and a server. */
export type LinkState =
  /** They pass. */
  | 'open'
  /** Those of the server vanish. */
  | 'mute'
  /** They vanish, both ways, and nobody is told; new connections are accepted and hang. */
  | 'black hole'
  /** Connections are refused, and those there are were reset. */
  | 'down'

/** A TCP link to a server that can be made to fail. */
export interface FaultyLink {
  readonly port: number
  set(state: LinkState): void
  /** Resets every connection now; new ones pass. */
  reset(): void
}

export async function createFaultyLink(target: URL, owner: Owner): Promise<FaultyLink> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let state: LinkState = 'open'
  const server = createServer((near) => {
    if (state === 'down') return near.resetAndDestroy()
    const far = connect({ host: target.hostname, port: Number(target.port || 5432) })
    const pair = [near, far] as const
    pairs.add(pair)
    for (const [from, to] of [pair, [far, near] as const]) {
      const vanishes = () => state === 'black hole' || (state === 'mute' && from === far)
      from.on('data', (bytes) => !vanishes() && to.write(bytes))
      from.on('error', () => {})
      from.on('close', () => {
        to.destroy()
        pairs.delete(pair)
      })
    }
  })
  const reset = () => {
    for (const [near, far] of pairs) {
      // Node never closes a socket that is reset while it shuts down, and then the process cannot exit.
      if (near.writableEnded) near.destroy()
      else near.resetAndDestroy()
      far.destroy()
    }
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  owner.teardown(async () => {
    reset()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    port: (server.address() as { port: number }).port,
    reset,
    set(next) {
      state = next
      if (next === 'down') reset()
    },
  }
}
