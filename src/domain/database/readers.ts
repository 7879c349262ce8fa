import { readReplicas } from '@prisma/extension-read-replicas'
import type { Caller } from '../caller.ts'
import { parseConnection } from './connection.ts'
import { createDatabase, type Database, type DatabaseUse } from './database.ts'
import type { DatabaseClient } from './database-client.ts'

/** Chooses the database that a caller reads from, so that nobody misses what they wrote themselves. */
export interface Readers {
  clientFor(caller: Caller): DatabaseClient
  noteWrite(caller: Caller): void
  close(): Promise<void>
}

/** So many callers are remembered; beyond that those who wrote longest ago are forgotten first. */
const MAXIMUM_WRITERS = 100_000

/**
 * Spreads reads over replicas. A caller who has written reads from the primary for as long as a replica
 * may lag behind. Callers without a name count as one. Without replicas everyone reads from the primary.
 *
 * @param lag in milliseconds
 */
export function openReaders(
  primary: Database,
  addresses: readonly string[],
  use: Omit<DatabaseUse, 'interruptible' | 'schema'>,
  lag: number,
): Readers {
  if (addresses.length === 0) {
    return { clientFor: () => primary.client, noteWrite: () => {}, close: async () => {} }
  }
  const replicas = addresses.map((address) => {
    const { config, schema } = parseConnection(address)
    return createDatabase(config, { ...use, interruptible: true, schema })
  })
  const extended = primary.client.$extends(readReplicas({ replicas: replicas.map(({ client }) => client) }))
  const written = new Map<string, number>()
  return {
    clientFor({ subject = '' }) {
      const since = performance.now() - (written.get(subject) ?? Number.NEGATIVE_INFINITY)
      return since < lag ? primary.client : (extended.$replica() as unknown as DatabaseClient)
    },
    noteWrite({ subject = '' }) {
      written.delete(subject)
      written.set(subject, performance.now())
      const [oldest] = written.keys()
      if (written.size > MAXIMUM_WRITERS && oldest !== undefined) written.delete(oldest)
    },
    async close() {
      await Promise.all(replicas.map((replica) => replica.close()))
    },
  }
}
