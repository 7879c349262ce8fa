import { pageSize, refuseOutOfBounds } from '../../../graph/schema/lists.ts'
import type { SchemaField } from '../../../graph/schema/sdl.ts'
import type { Resource } from '../../../model/definition/resource.ts'
import { DEFAULT_PAGE_SIZE } from '../../../model/query/query.ts'
import { jsonValues } from '../../../model/rows/columns.ts'
import { readableCollections } from '../feed/read-feed.ts'
import { HIGHEST_VERSION, readVersions } from '../feed/versions.ts'

export const VERSIONS = /* GraphQL */ `
"A state of a resource, or its deletion."
type RecordedVersion {
  "Version of the resource; for a deletion, the one that was deleted." version: Int!
  "The change that made it. Null if that change was not recorded." event: ChangeEvent
  "Time of that change or, without one, of the last change of the resource." time: DateTime!
  "Subject of the token, or role in the database. Null without an event." by: String
  "The resource, as in REST. Null for a deletion." resource: JSON
}

"Versions of a resource, the newest first."
type RecordedVersionPage {
  "The versions. A deletion precedes the version that was deleted." items: [RecordedVersion!]!
  "Whether there are older versions. Pass the version of the last item as before." hasMore: Boolean!
}`

interface VersionsArguments {
  readonly collection: string
  readonly id: string
  readonly parentId?: string | null
  readonly version?: number | null
  readonly before?: number | null
  readonly limit?: number | null
}

export function versionsQuery(resources: readonly Resource[]): SchemaField {
  return {
    sdl: `"The versions of a resource that are kept, also after its deletion."
      versions(
        "Path of the collection." collection: String!,
        "Identifier of the resource; of a singleton, that of its parent." id: ID!,
        "Identifier of the parent of an owned resource." parentId: ID,
        "Only this version. Fails with RESOURCE_NOT_FOUND or RESOURCE_GONE if there is none." version: Int,
        "Only versions older than this one." before: Int,
        "Maximum number of versions. Defaults to ${DEFAULT_PAGE_SIZE}." limit: Int = null
      ): RecordedVersionPage`,
    resolve: async (
      _,
      { collection, id, parentId, version, before, limit }: VersionsArguments,
      { session },
    ) => {
      const below = before ?? HIGHEST_VERSION
      const size = pageSize(limit, session.maximumPageSize)
      refuseOutOfBounds('before', below, 1, HIGHEST_VERSION)
      const [resource] = readableCollections(resources, [collection], session.caller) as readonly [Resource]
      const parents = { collection: undefined, owned: parentId ?? undefined, singleton: id }
      const key = { id, parentId: parents[resource.kind] }
      const request = { version: version ?? undefined, before: below, limit: size }
      const { versions, hasMore } = await readVersions(session, resource, key, request)
      const view = session.view(resource)
      const items = versions.map(({ event, row, ...recorded }) => {
        return { ...recorded, event: event?.toUpperCase(), resource: row && jsonValues(view, row) }
      })
      return { items, hasMore }
    },
  }
}
