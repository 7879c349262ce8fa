import type { DatabaseClient } from '../database/client.ts'
import { type Resource, tableName } from './model/resource.ts'

const LIFETIME_MILLISECONDS = 10_000

/** The sizes of the tables in bytes, by name. */
type Sizes = ReadonlyMap<string, number>

/** How large the tables of the resources are, as they were within the last seconds. */
export class TableSizes {
  readonly #client: DatabaseClient
  readonly #tables: readonly string[]
  #known: Promise<Sizes> | undefined
  #askedAt = Number.NEGATIVE_INFINITY

  constructor(client: DatabaseClient, resources: readonly Resource[]) {
    this.#client = client
    this.#tables = resources.map(({ path }) => tableName(path))
  }

  /** The size of a resource's table in bytes, with its long values and without its indexes. */
  async of({ path }: Resource): Promise<number> {
    if (performance.now() - this.#askedAt > LIFETIME_MILLISECONDS) this.#refresh()
    return (await this.#known)?.get(tableName(path)) ?? 0
  }

  /** Only the first call waits for the database. While that does not answer, the last sizes are good enough. */
  #refresh(): void {
    this.#askedAt = performance.now()
    const sizes = this.#read()
    this.#known ??= sizes.catch(() => new Map())
    sizes.then(
      () => {
        this.#known = sizes
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
