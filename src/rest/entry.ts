import type { Data, Prepare } from '../graph/execution/operation.ts'
import { callerOf } from '../http/auth/authenticate.ts'
import { addressesFor, type Handler, type RestSettings, respond } from './exchange.ts'
import { refuseQuery } from './parse-list-query.ts'

/**
 * The entry document, from which every collection can be found (SPEC §1.4): a link to each. A header leads
 * to the descriptions of the service, for programs and for people (RFC 8631).
 */
export function entryHandler(prepare: Prepare, settings: RestSettings): Handler {
  const operation = prepare('{ collections { path description } }')
  return async (ctx) => {
    refuseQuery(ctx.URL.searchParams)
    const { collections } = (await operation({}, callerOf(ctx))) as { collections: Data[] }
    const { base } = addressesFor(ctx, settings)
    const links = collections.map(({ path, description }) => [
      path,
      { href: `${base}/${path}`, title: description },
    ])
    ctx.set(
      'Link',
      `<${base}/openapi.json>; rel="service-desc", <${new URL(base).origin}/docs>; rel="service-doc"`,
    )
    respond(ctx, 200, { _links: { self: { href: base }, ...Object.fromEntries(links) } })
  }
}
