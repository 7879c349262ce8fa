import { link } from '../../http/headers.ts'
import { rootFor } from '../../http/request-target.ts'
import type { Resource } from '../../model/definition/resource.ts'
import { runForRequest } from '../graphql-operations.ts'
import type { ServiceOperation } from '../operation.ts'
import { QueryParameters } from '../query-parameters.ts'
import { linkDescription, negotiate, respond } from '../respond.ts'
import { API_CATALOG_PATH, REFERENCE_PATH, urlsFor } from '../urls.ts'

/** SPEC §1.4. */
export const entry: ServiceOperation = {
  method: 'GET',
  path: '',
  id: 'readEntry',
  summary: 'The entry document',
  description: 'Links to every collection. Requires a token, with any scope.',
  responses: { 200: { description: 'The collections.', body: 'Entry' } },

  /**
   * The Link header leads to the OpenAPI document and the reference (RFC 8631), and to the API catalog (RFC 9727).
   */
  handler({ executor, settings }) {
    const text = '{ collections { path description } }'
    const operation = executor.prepare({ type: 'query', name: 'collections', text })
    return async (ctx) => {
      negotiate(ctx)
      QueryParameters.refuse(ctx.URL.searchParams)
      const { collections } = (await runForRequest(ctx, operation, {})) as { collections: Listed[] }
      const urls = urlsFor(ctx, settings)
      const root = rootFor(ctx, settings)
      linkDescription(ctx, urls)
      ctx.append('Link', link(root + (settings.reference ?? REFERENCE_PATH), 'service-doc'))
      ctx.append('Link', link(root + API_CATALOG_PATH, 'api-catalog'))
      respond(ctx, 200, entryDocument(collections, urls.base))
    }
  },
}

type Listed = Pick<Resource, 'path' | 'description'>

/** Collections have no parent, so their links follow from their paths. */
export function entryDocument(collections: readonly Listed[], base: string): object {
  const links = collections.map(({ path, description: title }) => [path, { href: `${base}/${path}`, title }])
  return { _links: { self: { href: base }, ...Object.fromEntries(links) } }
}
