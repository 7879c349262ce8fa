import { type ChangePage, readableCollections, readChanges } from '../../domain/feed/change-feed.ts'
import type { RecordedChange } from '../../domain/feed/recorded-change.ts'
import { DEFAULT_PAGE_SIZE } from '../../model/query/query.ts'
import type { Resource } from '../../model/resource.ts'
import { refuseOutOfBounds } from './lists.ts'
import type { SchemaField } from './sdl.ts'

export const CHANGES = /* GraphQL */ `
"What happened to a resource."
enum ChangeEvent { CREATED CHANGED DELETED }

"A change of a resource, by a request or in the database."
type RecordedChange {
  "Position after this change." cursor: String!
  "Path of the collection." collection: String!
  "Identifier of the resource." id: ID!
  "Identifier of its parent, if it has one." parentId: ID
  "Version of the resource after the change, or before its deletion." version: Int!
  "What happened." event: ChangeEvent!
  "When." time: DateTime!
  "Subject of the token, or role in the database." by: String!
  "The resource after the change, as in REST. Null after a deletion." resource: JSON
}

"Changes after a position, in the order that all readers see."
type RecordedChangePage {
  "The changes." items: [RecordedChange!]!
  "Whether there are more to read at once." hasMore: Boolean!
  "Position after this page. Pass it as since, also at the end." nextCursor: String!
}`

interface ChangesArguments {
  readonly since?: string | null
  readonly collections?: readonly string[] | null
  readonly limit: number
}

export function changesQuery(resources: readonly Resource[]): SchemaField {
  return {
    sdl: `"Changes of the collections that the caller may read. Following nextCursor leads to each exactly once."
      changes(
        "A cursor, or now for the end. By default, from the oldest change that is kept." since: String,
        "Only of these." collections: [String!],
        "Number of changes." limit: Int! = ${DEFAULT_PAGE_SIZE}
      ): RecordedChangePage`,
    resolve: async (_, { since, collections, limit }: ChangesArguments, context) => {
      context.slot.throwIfLate()
      const { connections, domain } = context
      refuseOutOfBounds('limit', limit, 1, domain.maximumPageSize)
      const wanted = readableCollections(resources, collections ?? undefined, context.caller)
      // Replicas may lack changes, and cannot give them positions.
      const request = { resources: wanted, since: since ?? undefined, limit }
      return toResult(await connections.use(() => readChanges(domain, request)))
    },
  }
}

function toResult({ changes, next, hasMore }: ChangePage) {
  return { items: changes.map(toItem), hasMore, nextCursor: next }
}

export function toItem({ cursor, resource, key, version, event, time, by, values }: RecordedChange) {
  return {
    cursor,
    collection: resource.path,
    id: key.id,
    parentId: key.parentId,
    version,
    event: event.toUpperCase(),
    time,
    by,
    resource: values,
  }
}
