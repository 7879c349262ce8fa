import DataLoader from 'dataloader'
import type { DatabaseClient } from '../../domain/context.ts'
import type { ResourceKey } from '../../domain/model/identifiers.ts'
import { isScan, type List, type ListRequest } from '../../domain/model/list.ts'
import type { Resource } from '../../domain/model/resource.ts'
import type { Row } from '../../domain/model/row.ts'
import { ownedKey, readLists, readOwned, readRows } from '../../domain/read.ts'
import type { Scan } from './scans.ts'

/**
 * Reads related resources for the resolvers of one operation. Simultaneous look-ups of one kind become one
 * statement, and no row is read twice. So the number of statements depends on the operation, not on the number
 * of resources.
 */
export class Loaders {
  #client: DatabaseClient
  readonly #scan: Scan
  readonly #signal: AbortSignal | undefined
  readonly #loaders = new Map<string, DataLoader<string, never>>()
  readonly #remembered = new Map<Resource, Row[]>()

  constructor(client: DatabaseClient, scan: Scan, signal: AbortSignal | undefined) {
    this.#client = client
    this.#scan = scan
    this.#signal = signal
  }

  /** The row that has an identifier in a column without duplicates. */
  row(resource: Resource, column: string, id: string): Promise<Row | undefined> {
    return this.#rows(resource, column).load(id)
  }

  /** The row of the resource with a key. */
  resource(resource: Resource, { parentId, id }: ResourceKey): Promise<Row | undefined> {
    const { parentField, listed } = resource
    if (!parentField || parentId === undefined) return this.row(resource, 'id', id)
    if (!listed) return this.row(resource, parentField, parentId)
    const read = (keys: readonly string[]) => readOwned(this.#client, resource, keys)
    return this.#loader(`${resource.path} by parent`, read).load(ownedKey(parentId, id))
  }

  /**
   * Keeps rows that a list has read, so that they are not read again. They are given to a loader only when one
   * is created: most operations need none, and priming it with 20 rows takes 100 µs.
   */
  remember(resource: Resource, rows: readonly Row[]): void {
    if (resource.owner) return
    const remembered = this.#remembered.get(resource)
    if (remembered) remembered.push(...rows)
    else this.#remembered.set(resource, [...rows])
  }

  /** A part of the list of one parent, which must exist. */
  list(parent: Resource, resource: Resource, parentId: string, request: ListRequest): Promise<List> {
    const read = (ids: readonly string[]) =>
      this.#scan(resource, isScan(request), () => readLists(this.#client, parent, resource, ids, request))
    const kind = `${parent.path} ${resource.path} ${JSON.stringify(request)}`
    return this.#loader(kind, read).load(parentId) as Promise<List>
  }

  /** Discards all rows after a write, and reads from the database that was written. */
  restart(client: DatabaseClient): void {
    this.#client = client
    this.#loaders.clear()
    this.#remembered.clear()
  }

  #rows(resource: Resource, column: string) {
    const read = (ids: readonly string[]) => readRows(this.#client, resource, column, ids)
    const loader = this.#loader(`${resource.path} ${column}`, read)
    if (column === 'id') {
      for (const row of this.#remembered.get(resource) ?? []) loader.prime(row.id, row)
      this.#remembered.delete(resource)
    }
    return loader
  }

  #loader<Value>(kind: string, read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Value>>) {
    const known = this.#loaders.get(kind) as DataLoader<string, Value | undefined> | undefined
    if (known) return known
    const loader = new DataLoader<string, Value | undefined>(async (ids) => {
      this.#signal?.throwIfAborted()
      const found = await read(ids)
      return ids.map((id) => found.get(id))
    })
    this.#loaders.set(kind, loader as unknown as DataLoader<string, never>)
    return loader
  }
}
