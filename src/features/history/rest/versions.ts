import type { Executor, PreparedOperation } from '../../../graph/execution/operation.ts'
import { isTitled } from '../../../graph/names.ts'
import type { Context } from '../../../http/context.ts'
import { definedName } from '../../../model/definition/fields.ts'
import type { Values } from '../../../model/definition/resource.ts'
import { titleOf } from '../../../model/definition/titles.ts'
import { DomainError } from '../../../model/errors.ts'
import { runForRequest } from '../../../rest/graphql-operations.ts'
import { picker } from '../../../rest/hal.ts'
import type { HeaderLink } from '../../../rest/operation.ts'
import type { ReadOperation, ResourceParts } from '../../../rest/operations/resource-parts.ts'
import { QueryParameters } from '../../../rest/query-parameters.ts'
import { respond } from '../../../rest/respond.ts'
import { keyIn, requestedUrl, withQuery } from '../../../rest/urls.ts'
import type { Followed } from '../feed/follow.ts'
import { HIGHEST_VERSION } from '../feed/versions.ts'

export const VERSIONS_PATH = '/versions'

/** From a resource, also a deleted one, to its versions (RFC 5829 §3.1). */
export function versionsLink(followed: Followed): HeaderLink {
  return {
    on: 'resource',
    relation: 'version-history',
    target({ urls, resource, params, caller }) {
      const isRecorded = followed.of(caller).core.changesDays > 0
      return isRecorded ? urls.resource(resource, keyIn(params)) + VERSIONS_PATH : undefined
    },
  }
}

const DESCRIPTION = 'Also works after the resource is deleted.'

export const versions = {
  method: 'GET',
  at: 'resource',
  below: VERSIONS_PATH,
  action: 'read',
  id: 'listVersionsOf',
  summary: 'List the versions of',
  description: DESCRIPTION,
  query: { limit: null, before: null },
  responses: {
    200: {
      description: 'Versions, the newest first.',
      body: 'RecordedVersions',
      component: 'versions',
    },
  },

  handler(parts) {
    const { settings, resource } = parts
    const { read, present, linkTo } = versionReader(parts)
    return async (ctx) => {
      const parameters = new QueryParameters(ctx.URL.searchParams)
      parameters.checkNames(Object.keys(versions.query))
      const limit = parameters.limit(settings.maximumPageSize)
      const before = parameters.search.has('before')
        ? parameters.positive('before', 1, HIGHEST_VERSION)
        : undefined
      parameters.refuseProblems()
      const { items, has_more } = await read(ctx, { before, limit })
      const href = requestedUrl(ctx, resource, settings)
      const page = (before?: number) => ({ href: withQuery(href + VERSIONS_PATH, { before, limit }) })
      respond(ctx, 200, {
        _links: {
          self: page(before),
          ...(has_more && { next: page(items.at(-1)?.version) }),
          resource: linkTo(href, items.find((item) => item.resource)?.resource),
        },
        limit,
        has_more,
        _embedded: { versions: items.map((item) => present(item, href)) },
      })
    }
  },
} as const satisfies ReadOperation

export const version: ReadOperation = {
  method: 'GET',
  at: 'resource',
  below: `${VERSIONS_PATH}/:version`,
  action: 'read',
  id: 'readVersionOf',
  summary: 'Read a version of',
  description: DESCRIPTION,
  responses: { 200: { description: 'The version.', body: 'RecordedVersion', component: 'version' } },

  handler(parts) {
    const { read, present } = versionReader(parts)
    return async (ctx) => {
      QueryParameters.refuse(ctx.URL.searchParams)
      const { items } = await read(ctx, { version: numberIn(ctx), limit: 1 })
      respond(ctx, 200, present(items[0] as Version, requestedUrl(ctx, parts.resource, parts.settings)))
    }
  },
}

const QUERY = `query ($collection: String!, $id: ID!, $parentId: ID, $version: Int, $before: Int, $limit: Int!) {
  versions(collection: $collection, id: $id, parentId: $parentId, version: $version, before: $before, limit: $limit) {
    has_more: hasMore items { version event time by resource }
  }
}`

interface Version extends Values {
  readonly version: number
  readonly event: string | null
  readonly by: string | null
  readonly resource: Values | null
}

/** All resources of an executor share the operation. */
const prepared = new WeakMap<Executor, PreparedOperation>()

function versionReader({ resource, executor }: ResourceParts) {
  const operation =
    prepared.get(executor) ??
    executor.prepare({ type: 'query', name: 'versions', text: QUERY, sizedBy: 'limit' })
  prepared.set(executor, operation)
  const { path: collection } = resource
  const membersOf = picker(resource.shownFields, definedName)
  /** The link to the resource, with the title that it had. */
  const linkTo = (href: string, values?: Values | null) =>
    values && isTitled(resource) ? { href, title: titleOf(resource, membersOf(values)) } : { href }

  async function read(ctx: Context, variables: Values) {
    const read = await runForRequest(ctx, operation, { collection, ...keyIn(ctx['params']), ...variables })
    return read['versions'] as { items: readonly Version[]; has_more: boolean }
  }

  function present({ version, event, by, resource: values, ...others }: Version, href: string) {
    return {
      version,
      event: event?.toLowerCase(),
      ...others,
      by: by ?? undefined,
      resource: values ? membersOf(values) : undefined,
      _links: {
        // For a deletion, this URL leads to the version that was deleted.
        ...(values && { self: { href: `${href}${VERSIONS_PATH}/${version}` } }),
        resource: linkTo(href, values),
      },
    }
  }

  return { read, present, linkTo }
}

/** @throws {DomainError} RESOURCE_NOT_FOUND (404) */
function numberIn({ params: { version } }: Context): number {
  const number = /^[1-9]\d{0,9}$/.test(version) ? Number(version) : Number.NaN
  if (number <= HIGHEST_VERSION) return number
  throw new DomainError('RESOURCE_NOT_FOUND', `There is no version ${JSON.stringify(version.slice(0, 64))}.`)
}
