import DataLoader from 'dataloader'
import type { DatabaseClient, ReadContext, SharedTransaction, WriteContext } from '../../domain/context.ts'
import { readByKeys, readLists } from '../../domain/read.ts'
import type { WriteTurn } from '../../domain/write-order.ts'
import type { Access } from '../../model/access/access.ts'
import { type Action, authorize, type Caller } from '../../model/access/caller.ts'
import type { Resource } from '../../model/definition/resource.ts'
import { refuseWithheld, viewFor } from '../../model/definition/views.ts'
import { type List, type ListRequest, passesOf, scansOf } from '../../model/query/list.ts'
import { requestKey } from '../../model/query/request-key.ts'
import { keyOf, keyText, type ResourceKey } from '../../model/rows/identifiers.ts'
import type { Row } from '../../model/rows/row.ts'
import type { Read, SharedReads } from './shared-reads.ts'
import type { Slot } from './slot.ts'

export interface DomainContext extends Omit<WriteContext, 'caller' | 'access'> {
  readonly accessOf: (caller: Caller) => Access
  /** How long changes are recorded; 0 for no record. */
  readonly changesDays: number
  readonly maximumPageSize: number
  /** Undefined without replicas. */
  readonly readers: ReadContext | undefined
  readonly sharedReads: SharedReads
  /** Called after each write, even one that failed: the database may have executed it. */
  readonly written: (caller: Caller) => void
}

/** Runs the statements of an operation that read lists or write. Others do not wait. */
export interface Connections {
  read<Result>(read: Read<Result>): Promise<Result>
  write<Result>(work: () => Promise<Result>): Promise<Result>
}

/** The owner of listed resources, or the resource that they refer to. */
export interface Parent {
  readonly resource: Resource
  readonly id: string
}

/** What a subscription needs after the operation that began it. */
export interface Subscriber {
  /** The changes that it keeps in memory at most. */
  readonly pageSize: number
  /** Aborted at the end of the stream. */
  readonly signal: AbortSignal
  /** Reads a page of changes, in a slot of its own. */
  read<Page>(page: (connections: Connections) => Promise<Page>): Promise<Page>
}

export interface GraphContext {
  readonly caller: Caller
  /** What the caller may read and write, during this operation. */
  readonly access: Access
  readonly domain: DomainContext
  readonly loaders: Loaders
  readonly connections: Connections
  readonly slot: Slot
  /**
   * Whether a mutation may select the resource it wrote without the read scope. Only REST's may: they return the
   * resource after a create (SPEC §4.3), and after other writes only to callers who may read it.
   */
  readonly selectsWritten: boolean
  /** Set if the operation is one of several in a transaction. */
  readonly turn?: WriteTurn | undefined
  /** Set if the response can be a stream of events. */
  readonly subscriber?: Subscriber | undefined
}

export function createContext(
  caller: Caller,
  domain: DomainContext,
  { slot, selectsWritten, subscriber }: Pick<GraphContext, 'slot' | 'selectsWritten' | 'subscriber'>,
): GraphContext {
  const reader = domain.readers?.clientFor(caller)
  const connections = connectionsFor(domain, slot)
  const access = domain.accessOf(caller)
  const loaders = new Loaders(reader ?? domain.client, access, connections, slot)
  return { caller, access, domain, loaders, connections, slot, selectsWritten, subscriber }
}

export function connectionsFor({ sharedReads }: DomainContext, slot: Slot): Connections {
  return {
    read: (read) => sharedReads.read(slot, read),
    write: (work) => slot.write(work),
  }
}

/** The same context inside a transaction, which has a connection already and reads what it has written. */
export function inTransaction(
  context: GraphContext,
  client: DatabaseClient,
  transaction: SharedTransaction,
): GraphContext {
  const connections: Connections = { read: ({ run }) => run(), write: (work) => work() }
  const domain = { ...context.domain, client, transaction }
  return {
    ...context,
    domain,
    loaders: new Loaders(client, context.access, connections, context.slot),
    connections,
  }
}

/** @throws {DomainError} ACCESS_DENIED (403), or SERVICE_UNAVAILABLE (503) after the deadline of the operation */
export function requireScope({ caller, slot }: GraphContext, resource: Resource, action: Action): void {
  slot.throwIfLate()
  authorize(caller, resource, action)
}

/** @throws {DomainError} ACCESS_DENIED (403) for a field that needs a scope which the caller lacks */
export function requireFields({ caller }: GraphContext, resource: Resource, names: readonly string[]): void {
  const view = viewFor(resource, caller)
  for (const name of names) refuseWithheld(view, name)
}

/**
 * Reads related resources for one operation. Simultaneous look-ups of one kind become one statement, and no row is read
 * twice, so the number of statements does not depend on the number of resources.
 */
class Loaders {
  readonly #loaders = new Map<string, DataLoader<string, never>>()
  readonly #remembered = new Map<Resource, Row[]>()

  constructor(
    /** The database to read from. Not in the context, because Apollo copies it. Writes go to `domain.client`. */
    public reader: DatabaseClient,
    private readonly access: Access,
    private readonly connections: Connections,
    private readonly slot: Slot,
  ) {}

  resource(resource: Resource, key: ResourceKey): Promise<Row | undefined> {
    const { access, reader } = this
    const read = (keys: readonly string[]) => readByKeys(reader, resource, keys, access)
    const loader = this.#loader(resource.path, read)
    for (const row of this.#remembered.get(resource) ?? []) loader.prime(keyText(keyOf(resource, row)), row)
    this.#remembered.delete(resource)
    return loader.load(keyText(key))
  }

  /**
   * Keeps the rows of a list, so that they are not read again. They prime a loader only when it is used: most operations
   * need none, and priming it with 20 rows takes 100 µs.
   */
  remember(resource: Resource, rows: readonly Row[]): void {
    const remembered = this.#remembered.get(resource)
    if (remembered) remembered.push(...rows)
    else this.#remembered.set(resource, [...rows])
  }

  /** A part of the list of one parent; undefined if there is no such parent. */
  list(parent: Parent, resource: Resource, request: ListRequest): Promise<List | undefined> {
    const { access, connections, reader } = this
    const kind = requestKey(parent.resource.path, resource.path, request)
    const read = (ids: readonly string[]) =>
      connections.read({
        client: reader,
        key: requestKey(kind, ids, access.readable(parent.resource)),
        scans: scansOf(resource, passesOf(request), request.rows.filter),
        run: () => readLists(reader, parent.resource, resource, ids, request, access),
      })
    return this.#loader(kind, read).load(parent.id)
  }

  /** Switches the database, and forgets what was read. */
  readFrom(reader: DatabaseClient): void {
    this.reader = reader
    this.#loaders.clear()
    this.#remembered.clear()
  }

  #loader<Value>(kind: string, read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Value>>) {
    const existing = this.#loaders.get(kind) as DataLoader<string, Value | undefined> | undefined
    if (existing) return existing
    const loader = new DataLoader<string, Value | undefined>(async (ids) => {
      this.slot.throwIfLate()
      const values = await read(ids)
      return ids.map((id) => values.get(id))
    })
    this.#loaders.set(kind, loader as unknown as DataLoader<string, never>)
    return loader
  }
}
