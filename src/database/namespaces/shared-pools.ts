import type { Connection } from '../connection.ts'
import { createPool, type DatabasePool, type PoolUse } from '../pool.ts'
import { SchemaPool } from './schema-pool.ts'

/** Each schema leaves prepared statements behind in the sessions of a server, so sessions end after so many uses. */
const MAXIMUM_USES = 20_000

/** Pools of connections by server. The schemas of a server share its pool, and each uses at most half of it. */
export function createSharedPools(use: PoolUse) {
  const servers = new Map<string, DatabasePool>()
  return {
    /** @param connection an address, with its schema */
    poolOf(connection: Connection): DatabasePool {
      const address = String(connection.connectionString)
      const server = servers.get(address) ?? createPool(connection, use, MAXIMUM_USES)
      servers.set(address, server)
      return new SchemaPool(server, connection, use) as DatabasePool
    },
    async end(): Promise<void> {
      await Promise.all([...servers.values()].map((pool) => pool.end()))
    },
  }
}
