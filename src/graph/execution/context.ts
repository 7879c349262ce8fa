import DataLoader from 'dataloader'
import type { DatabaseClient, ReadContext, WriteContext } from '../../domain/context.ts'
import { readByKeys, readLists, readRows } from '../../domain/read.ts'
import { type Action, authorize } from '../../model/authorize.ts'
import type { Caller } from '../../model/caller.ts'
import { keyText, type ResourceKey } from '../../model/identifiers.ts'
import { type List, type ListRequest, passesOf } from '../../model/query/list.ts'
import type { Resource } from '../../model/resource.ts'
import type { Row } from '../../model/row.ts'
import type { ConnectionShares, Connections } from './connection-shares.ts'
import type { Slot } from './operation-limiter.ts'

export interface DomainContext extends Omit<WriteContext, 'caller'> {
  readonly maximumPageSize: number
  /** Chooses the database that a caller reads from, and records writes. */
  readonly readers: ReadContext
  readonly connections: ConnectionShares
}

export interface GraphContext {
  readonly caller: Caller
  readonly domain: DomainContext
  /** The database to read from. Writes go to `domain.client`. */
  reader: DatabaseClient
  readonly loaders: Loaders
  /** Runs all statements but look-ups of single resources. */
  readonly connections: Connections
  readonly slot: Slot
  /**
   * Whether a mutation may select the resource it wrote without the read scope. Only the operations of REST
   * may: they return the resource after a create (SPEC §4.3), and after no other write.
   */
  readonly selectsWritten: boolean
}

export function createContext(
  caller: Caller,
  domain: DomainContext,
  { slot, selectsWritten }: Pick<GraphContext, 'slot' | 'selectsWritten'>,
): GraphContext {
  const hasToken = caller.consistency?.after !== undefined
  const reader = hasToken ? domain.client : domain.readers.clientFor(caller)
  const connections = domain.connections.of(caller.identity, slot)
  return {
    caller,
    domain,
    reader,
    connections,
    loaders: new Loaders(reader, connections, slot),
    slot,
    selectsWritten,
  }
}

/** Selects a replica that has the writes this query must see, before the query reads anything. */
export async function awaitWrites(context: GraphContext): Promise<void> {
  const { caller, domain, loaders } = context
  if (caller.consistency?.after === undefined) return
  context.reader = await domain.readers.caughtUpClientFor(caller)
  loaders.restart(context.reader)
}

/**
 * Requires the scope for an action on a resource.
 *
 * @throws {DomainError} ACCESS_DENIED (403), or SERVICE_UNAVAILABLE (503) after the deadline of the operation
 */
export function requireScope({ caller, slot }: GraphContext, resource: Resource, action: Action): void {
  slot.throwIfLate()
  authorize(caller, resource, action)
}

/**
 * Reads related resources for the resolvers of one operation. Simultaneous look-ups of one kind become one statement,
 * and no row is read twice, so the number of statements does not depend on the number of resources.
 */
class Loaders {
  #client: DatabaseClient
  readonly #connections: Connections
  readonly #slot: Slot
  readonly #loaders = new Map<string, DataLoader<string, never>>()
  readonly #remembered = new Map<Resource, Row[]>()

  constructor(client: DatabaseClient, connections: Connections, slot: Slot) {
    this.#client = client
    this.#connections = connections
    this.#slot = slot
  }

  /** The row with this value in a unique column. */
  row(resource: Resource, column: string, id: string): Promise<Row | undefined> {
    return this.#rows(resource, column).load(id)
  }

  resource(resource: Resource, { parentId, id }: ResourceKey): Promise<Row | undefined> {
    const { parentField, listed } = resource
    if (!parentField || parentId === undefined) return this.row(resource, 'id', id)
    if (!listed) return this.row(resource, parentField, parentId)
    const read = (keys: readonly string[]) =>
      this.#connections.use(() => readByKeys(this.#client, resource, keys))
    return this.#loader(`${resource.path} by parent`, read).load(keyText({ parentId, id }))
  }

  /**
   * Keeps the rows of a list, so that they are not read again. A loader is primed with them when it is created: most
   * operations need none, and priming it with 20 rows takes 100 µs.
   */
  remember(resource: Resource, rows: readonly Row[]): void {
    if (resource.owner) return
    const remembered = this.#remembered.get(resource)
    if (remembered) remembered.push(...rows)
    else this.#remembered.set(resource, [...rows])
  }

  /** A part of the list of one existing parent. */
  list(parent: Resource, resource: Resource, parentId: string, request: ListRequest): Promise<List> {
    const read = (ids: readonly string[]) =>
      this.#connections.read({
        resource,
        passes: passesOf(request),
        run: () => readLists(this.#client, parent, resource, ids, request),
      })
    const kind = `${parent.path} ${resource.path} ${JSON.stringify(request)}`
    return this.#loader(kind, read).load(parentId) as Promise<List>
  }

  /** Discards all rows and reads from another database, such as the one just written to. */
  restart(client: DatabaseClient): void {
    this.#client = client
    this.#loaders.clear()
    this.#remembered.clear()
  }

  #rows(resource: Resource, column: string) {
    const read = (ids: readonly string[]) =>
      this.#connections.use(() => readRows(this.#client, resource, column, ids))
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
      this.#slot.throwIfLate()
      const found = await read(ids)
      return ids.map((id) => found.get(id))
    })
    this.#loaders.set(kind, loader as unknown as DataLoader<string, never>)
    return loader
  }
}
