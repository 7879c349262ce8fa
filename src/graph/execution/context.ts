import type { DatabaseClient, ReadContext, WriteContext } from '../../domain/context.ts'
import { type Action, authorize } from '../../domain/model/authorize.ts'
import type { Caller } from '../../domain/model/caller.ts'
import type { Resource } from '../../domain/model/resource.ts'
import { Loaders } from './loaders.ts'
import type { Slot } from './operation-limiter.ts'
import type { Scan, Scans } from './scans.ts'

/** The domain that the resolvers call, with its settings. */
export interface DomainContext extends Omit<WriteContext, 'caller'> {
  /** The largest `limit` of a list. */
  readonly maximumPageSize: number
  /** Chooses the database that a caller reads from, and records writes. */
  readonly readers: ReadContext
  /** Limits concurrent reads of large tables. */
  readonly scans: Scans
}

/** The context of one GraphQL operation. */
export interface GraphContext {
  readonly caller: Caller
  readonly domain: DomainContext
  /** The database that this operation reads. Writes go to `domain.client`. */
  readonly reader: DatabaseClient
  readonly loaders: Loaders
  /** Runs a read that may scan the whole table of a resource. */
  readonly scan: Scan
  /** Aborted when the response is no longer waited for. */
  readonly signal: AbortSignal | undefined
  /** Waits until there is memory for a response of this size. */
  readonly reserve: Slot['reserve']
  /**
   * Whether a mutation may select the resource it wrote without the read scope. Only the operations of REST
   * may: they return the resource after a create (SPEC §4.3), and after no other write.
   */
  readonly selectsWritten: boolean
}

/** How an operation is run. */
export interface Execution {
  /** The slot of the limiter. Without one the operation runs at once and without limits, as in tests. */
  readonly slot?: Slot | undefined
  readonly selectsWritten: boolean
}

/** Creates the context of one operation. */
export function createContext(
  caller: Caller,
  domain: DomainContext,
  { slot, selectsWritten }: Execution,
): GraphContext {
  const reader = domain.readers.clientFor(caller)
  const signal = slot?.signal
  const scan = domain.scans.of(caller.identity, signal)
  return {
    caller,
    domain,
    reader,
    scan,
    loaders: new Loaders(reader, scan, signal),
    signal,
    reserve: async (bytes) => slot?.reserve(bytes),
    selectsWritten,
  }
}

/**
 * Requires the scope for an action on a resource. Also stops work whose response is no longer waited for.
 *
 * @throws {DomainError} ACCESS_DENIED (403)
 * @throws what the signal was aborted with
 */
export function requireScope({ caller, signal }: GraphContext, resource: Resource, action: Action): void {
  signal?.throwIfAborted()
  authorize(caller, resource, action)
}
