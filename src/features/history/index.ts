import { fieldsOf, type SchemaPart } from '../../graph/schema/sdl.ts'
import { type Namespace, namespaceOf } from '../../model/access/caller.ts'
import type { Resource } from '../../model/definition/resource.ts'
import type { Feature } from '../feature.ts'
import type { Followed, Started } from './feed/follow.ts'
import { startFeedUpkeep } from './feed/upkeep.ts'
import { FeedWatch } from './feed/watch.ts'
import { CHANGES, feedCursor, feedQuery, feedSubscription, resourceSubscription } from './graphql/feed.ts'
import { VERSIONS, versionsQuery } from './graphql/versions.ts'
import { openapi } from './openapi.ts'
import { feedLink, feedOperation } from './rest/feed.ts'
import { version, versions, versionsLink } from './rest/versions.ts'

/**
 * History: the feed of changes (`/changes`, `changes` in GraphQL), subscriptions to it, and the versions of each resource
 * (`/versions`). The database records the changes; CHANGES_DAYS says for how long, and 0 switches the feature off.
 *
 * Adds to the schema the queries, the subscriptions and `changesCursor` of a page; to REST two operations for each
 * resource, one of the service, and the links `changes` and `version-history`. After a write, waiting requests look for
 * changes at once. In the background, changes get their positions, and expired ones are deleted.
 */
export function createHistory(resources: readonly Resource[]): Feature {
  const started = new WeakMap<Namespace, Started>()
  const followed: Followed = { resources, of: (caller) => started.get(namespaceOf(caller)) as Started }
  return {
    schema: schemaParts(followed),
    operations: {
      resource: [versions, version],
      service: [feedOperation(followed)],
    },
    links: [feedLink, versionsLink(followed)],
    openapi,
    async start(core) {
      const { namespace, database, readers, changesDays, replicaLag } = core
      const feed = new FeedWatch({ client: database.client, changesDays }, undefined, readers && replicaLag)
      await feed.refresh()
      started.set(namespace, { feed, core })
      const stopUpkeep = changesDays > 0 ? startFeedUpkeep(feed) : () => {}
      return () => {
        stopUpkeep()
        feed.stop()
      }
    },
    written: (caller) => followed.of(caller).feed.written(),
  }
}

function schemaParts(followed: Followed): SchemaPart[] {
  const { resources } = followed
  const declaration =
    '"Changes as they happen, as server-sent events. Each field needs the read scope of its collection." type Subscription'
  const subscriptions = resources.map((resource) => resourceSubscription(resource, followed))
  return [
    { typeDefs: CHANGES + VERSIONS, resolvers: {} },
    fieldsOf('Query', 'extend type Query', [feedQuery(resources), versionsQuery(resources)]),
    fieldsOf('Subscription', declaration, [feedSubscription(followed), ...subscriptions]),
    ...resources.filter(({ listed }) => listed).map((resource) => feedCursor(resource, followed)),
  ]
}
