import type { DatabaseClient } from '../database/client.ts'
import { type Resource, tableName } from '../model/resource.ts'

const LIFETIME_MILLISECONDS = 10_000

/** The sizes of the tables in bytes, by name. */
type Sizes = ReadonlyMap<string, number>

/** The sizes of the tables of the resources, cached for ten seconds. */
export class TableSizes {
  readonly #client: DatabaseClient
  readonly #tables: readonly string[]
  #cached: Promise<Sizes> | undefined
  #requestedAt = Number.NEGATIVE_INFINITY

  constructor(client: DatabaseClient, resources: readonly Resource[]) {
    this.#client = client
    this.#tables = resources.map(({ path }) => tableName(path))
  }

  /** The size of a table in bytes, with its TOAST data and without its indexes. */
  async of({ path }: Resource): Promise<number> {
    if (performance.now() - this.#requestedAt > LIFETIME_MILLISECONDS) this.#refresh()
    return (await this.#cached)?.get(tableName(path)) ?? 0
  }

  /** Only the first call waits for the database. Later calls use the previous sizes until it responds. */
  #refresh(): void {
    this.#requestedAt = performance.now()
    const sizes = this.#read()
    this.#cached ??= sizes.catch(() => new Map())
    sizes.then(
      () => {
        this.#cached = sizes
      },
      () => {},
    )
  }

  async #read(): Promise<Sizes> {
    const text = 'SELECT name, pg_table_size(name::regclass)::float8 AS bytes FROM unnest($1::text[]) AS name'
    const rows = await this.#client.$rows<{ name: string; bytes: number }>({ text, values: [this.#tables] })
    return new Map(rows.map(({ name, bytes }) => [name, bytes]))
  }
}
