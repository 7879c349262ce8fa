import { LRUCache } from 'lru-cache'
import type { StatementClient } from '../../database/database-client.ts'
import { type Resource, tableName } from '../../model/definition/resource.ts'
import type { Scan } from '../../model/query/list.ts'

const LIFETIME_MILLISECONDS = 10_000

/** The size of a table in bytes, with its TOAST data and without its indexes. */
export type TableSizes = (resource: Resource) => Promise<number>

/** Only the first call waits until the sizes are read; a failure keeps the previous ones. */
export function tableSizes(client: StatementClient, resources: readonly Resource[]): TableSizes {
  const read = async (): Promise<ReadonlyMap<string, number>> => {
    const text = 'SELECT name, table_bytes(name::regclass)::float8 AS bytes FROM unnest($1::text[]) AS name'
    const tables = resources.map(({ path }) => tableName(path))
    const rows = await client.$rows<{ name: string; bytes: number }>({ text, values: [tables] })
    return new Map(rows.map(({ name, bytes }) => [name, bytes]))
  }
  const known = new LRUCache<'sizes', ReadonlyMap<string, number>>({
    max: 1,
    ttl: LIFETIME_MILLISECONDS,
    allowStale: true,
    fetchMethod: (_, previous) => read().catch(() => previous ?? new Map()),
  })
  return async ({ path }) => (await known.fetch('sizes'))?.get(tableName(path)) ?? 0
}

export async function scannedBytes(sizeOf: TableSizes, scans: readonly Scan[]): Promise<number> {
  const bytes = scans.map(async ([resource, passes]) => passes * (await sizeOf(resource)))
  return (await Promise.all(bytes)).reduce((sum, part) => sum + part, 0)
}
