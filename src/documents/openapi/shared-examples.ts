import type { Resource } from '../../model/resource.ts'
import { entryDocument } from '../../rest/operations/entry.ts'
import { CHANGES_PATH, VERSIONS_PATH } from '../../rest/urls.ts'

/** Examples of the bodies that belong to no resource, by the names of their schemas. */
export function sharedExamples(resources: readonly Resource[], base: string): Record<string, object> {
  const [{ path: collection } = { path: 'collection' }] = resources
  const href = `${base}/${collection}/x`
  const link = (path: string) => ({ href: base + path })
  const change = { time: '2031-04-05T06:07:08.900Z', by: 'ada' }
  const version = {
    version: 1,
    event: 'created',
    ...change,
    resource: { id: 'x' },
    _links: { self: { href: `${href}${VERSIONS_PATH}/1` }, resource: { href } },
  }
  return {
    Entry: entryDocument(
      resources.filter(({ owner }) => !owner),
      base,
    ),
    Batch: {
      operations: [{ method: 'DELETE', path: `/${collection}/x`, headers: { 'If-Match': '"x:1"' } }],
    },
    BatchResults: { results: [{ status: 204, headers: {} }] },
    RecordedChanges: {
      _links: { self: link(`${CHANGES_PATH}?limit=20`), next: link(`${CHANGES_PATH}?since=Nw&limit=20`) },
      limit: 20,
      has_more: false,
      _embedded: {
        changes: [
          { collection, id: 'x', version: 2, event: 'deleted', ...change, _links: { resource: { href } } },
        ],
      },
    },
    RecordedVersion: version,
    RecordedVersions: {
      _links: { self: { href: `${href}${VERSIONS_PATH}?limit=20` }, resource: { href } },
      limit: 20,
      has_more: false,
      _embedded: { versions: [version] },
    },
  }
}
