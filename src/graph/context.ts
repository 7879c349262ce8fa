import type { Caller } from '../domain/caller.ts'
import type { WriteContext } from '../domain/write.ts'

/** What the resolvers work on: the domain, with the settings it follows. */
export interface DomainContext extends WriteContext {
  /** The largest `limit` of a list. */
  readonly maximumPageSize: number
}

/** What a GraphQL operation is executed with. */
export interface GraphContext {
  readonly caller: Caller
  readonly domain: DomainContext
}
