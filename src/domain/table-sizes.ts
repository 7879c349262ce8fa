import type { DatabaseClient } from '../database/client.ts'
import type { Scan } from '../model/query/list.ts'
import { type Resource, tableName } from '../model/resource.ts'

const LIFETIME_MILLISECONDS = 10_000

/** The sizes of the tables in bytes, by name. */
type Sizes = ReadonlyMap<string, number>

/** The sizes of the tables of the resources, cached for ten seconds. */
export class TableSizes {
  #cached: Promise<Sizes> | undefined
  #requestedAt = Number.NEGATIVE_INFINITY

  constructor(
    readonly client: DatabaseClient,
    readonly resources: readonly Resource[],
  ) {}

  /**
   * The size of a table in bytes, with its TOAST data and without its indexes. Only the first call waits for the
   * database. Later calls use the previous sizes until it responds.
   */
  async of({ path }: Resource): Promise<number> {
    if (performance.now() - this.#requestedAt > LIFETIME_MILLISECONDS) {
      this.#requestedAt = performance.now()
      const sizes = this.#read()
      this.#cached ??= sizes.catch(() => new Map())
      const keep = () => {
        this.#cached = sizes
      }
      sizes.then(keep, () => {})
    }
    return (await this.#cached)?.get(tableName(path)) ?? 0
  }

  async #read(): Promise<Sizes> {
    const text = 'SELECT name, pg_table_size(name::regclass)::float8 AS bytes FROM unnest($1::text[]) AS name'
    const tables = this.resources.map(({ path }) => tableName(path))
    const rows = await this.client.$rows<{ name: string; bytes: number }>({ text, values: [tables] })
    return new Map(rows.map(({ name, bytes }) => [name, bytes]))
  }
}

/** The bytes that a statement may read. */
export async function scannedBytes(sizes: Pick<TableSizes, 'of'>, scans: readonly Scan[]): Promise<number> {
  const bytes = scans.map(async ([resource, passes]) => passes * (await sizes.of(resource)))
  return (await Promise.all(bytes)).reduce((sum, part) => sum + part, 0)
}
