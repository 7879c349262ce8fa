import { type Action, authorize } from '../domain/authorize.ts'
import type { Caller } from '../domain/caller.ts'
import type { DatabaseClient } from '../domain/database/database-client.ts'
import type { Readers } from '../domain/database/readers.ts'
import type { Resource } from '../domain/resource.ts'
import type { WriteContext } from '../domain/write.ts'
import { Loaders } from './loaders.ts'

/** What the resolvers work on: the domain, with the settings it follows. */
export interface DomainContext extends WriteContext {
  /** The largest `limit` of a list. */
  readonly maximumPageSize: number
  /** Which database a caller reads from, and who has written. */
  readonly readers: Pick<Readers, 'clientFor' | 'noteWrite'>
}

/** What a GraphQL operation is executed with: made anew for each. */
export interface GraphContext {
  readonly caller: Caller
  readonly domain: DomainContext
  /** Where this operation reads; a write goes to `domain.client`. */
  readonly reader: DatabaseClient
  readonly loaders: Loaders
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal | undefined
  /**
   * Whether a mutation may select the resource it wrote without the read scope of it. Only the operations of
   * REST may: they answer a create with the resource (SPEC §4.3), and any other write without it.
   */
  readonly selectsWritten: boolean
}

/** The context of one operation. */
export function createContext(
  caller: Caller,
  domain: DomainContext,
  signal: AbortSignal | undefined,
  selectsWritten: boolean,
): GraphContext {
  const reader = domain.readers.clientFor(caller)
  return { caller, domain, reader, loaders: new Loaders(reader, signal), signal, selectsWritten }
}

/**
 * Lets work on a resource begin: by scope, and only while somebody waits for the answer.
 *
 * @throws {DomainError} ACCESS_DENIED (403)
 */
export function admit({ caller, signal }: GraphContext, resource: Resource, action: Action): void {
  signal?.throwIfAborted()
  authorize(caller, resource, action)
}
