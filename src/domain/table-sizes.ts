import { LRUCache } from 'lru-cache'
import type { DatabaseClient } from '../database/client.ts'
import type { Scan } from '../model/query/list.ts'
import { type Resource, tableName } from '../model/resource.ts'

const LIFETIME_MILLISECONDS = 10_000

export class TableSizes {
  /** In bytes, by table. Only the first call waits for them; a failure keeps the previous ones. */
  readonly #sizes = new LRUCache<'sizes', ReadonlyMap<string, number>>({
    max: 1,
    ttl: LIFETIME_MILLISECONDS,
    allowStale: true,
    fetchMethod: (_, previous) => this.#read().catch(() => previous ?? new Map()),
  })

  constructor(
    readonly client: DatabaseClient,
    readonly resources: readonly Resource[],
  ) {}

  /** The size of a table in bytes, with its TOAST data and without its indexes. */
  async of({ path }: Resource): Promise<number> {
    return (await this.#sizes.fetch('sizes'))?.get(tableName(path)) ?? 0
  }

  async #read(): Promise<ReadonlyMap<string, number>> {
    const text = 'SELECT name, pg_table_size(name::regclass)::float8 AS bytes FROM unnest($1::text[]) AS name'
    const tables = this.resources.map(({ path }) => tableName(path))
    const rows = await this.client.$rows<{ name: string; bytes: number }>({ text, values: [tables] })
    return new Map(rows.map(({ name, bytes }) => [name, bytes]))
  }
}

export async function scannedBytes(sizes: Pick<TableSizes, 'of'>, scans: readonly Scan[]): Promise<number> {
  const bytes = scans.map(async ([resource, passes]) => passes * (await sizes.of(resource)))
  return (await Promise.all(bytes)).reduce((sum, part) => sum + part, 0)
}
