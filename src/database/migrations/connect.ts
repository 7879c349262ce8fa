import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import type { Connection } from '../connection.ts'
import { isNotReachedYet } from '../errors.ts'
import { sendSetUp } from '../pooler.ts'
import { DatabaseRefusedError } from '../refused.ts'

const CONNECT_MILLISECONDS = 5_000
const PAUSE_MILLISECONDS = 250

/**
 * Connects to a server. One that cannot be reached yet is tried again for as long as the connection is patient.
 *
 * @throws DatabaseRefusedError if it cannot be reached, or refuses the connection
 */
export async function connect({ patience, ...connection }: Connection): Promise<Client> {
  const until = performance.now() + (patience?.seconds ?? 0) * 1_000
  for (let attempt = 1; ; attempt++) {
    const client = new Client({ connectionTimeoutMillis: CONNECT_MILLISECONDS, ...connection })
    client.on('error', () => {})
    try {
      await client.connect()
      // A pooler accepts a connection before it reaches the server.
      await sendSetUp((text) => client.query(text), 'SHOW server_version')
      return client
    } catch (cause) {
      client.end().catch(() => {})
      const reason = `The database at ${client.host}:${client.port} cannot be reached: ${describe(cause)}`
      if (!isNotReachedYet(cause) || performance.now() >= until)
        throw new DatabaseRefusedError(reason, { cause })
      if (attempt === 1) patience?.report(reason)
      await delay(PAUSE_MILLISECONDS)
    }
  }
}

function describe(error: unknown): string {
  return error instanceof AggregateError ? error.errors.map(String).join(', ') : (error as Error).message
}
