import type { Prepare } from '../graph/execution/operation.ts'
import { refuseQuery } from '../http/request-target.ts'
import type { Handler } from '../http/routes.ts'
import type { Values } from '../model/resource.ts'
import { runForRequest } from './operation-header.ts'
import { negotiate, respond } from './respond.ts'
import { REFERENCE_PATH, type RestSettings, rootFor, urlsFor } from './urls.ts'

/**
 * The entry document, with a link to every collection (SPEC §1.4). The Link header has the OpenAPI document and the
 * reference (RFC 8631).
 */
export function entryHandler(prepare: Prepare, settings: RestSettings): Handler {
  const operation = prepare({
    type: 'query',
    name: 'collections',
    text: '{ collections { path description } }',
  })
  return async (ctx) => {
    negotiate(ctx)
    refuseQuery(ctx.URL.searchParams)
    const { collections } = (await runForRequest(ctx, operation, {})) as { collections: Values[] }
    const { base } = urlsFor(ctx, settings)
    const root = rootFor(ctx, settings)
    const links = collections.map(({ path, description }) => [
      path,
      { href: `${base}/${path}`, title: description },
    ])
    const reference = root + (settings.reference ?? REFERENCE_PATH)
    ctx.append('Link', `<${base}/openapi.json>; rel="service-desc", <${reference}>; rel="service-doc"`)
    respond(ctx, 200, { _links: { self: { href: base }, ...Object.fromEntries(links) } })
  }
}
