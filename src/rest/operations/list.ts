import { callerOf } from '../../http/auth/authenticate.ts'
import { preferencesOf, reportApplied } from '../../http/negotiation.ts'
import { hasRelatedTitle } from '../../model/definition/titles.ts'
import { contentVariant, isNotModified, knownRevision, listTag, listVariant } from '../conditional.ts'
import { variantOf } from '../forms.ts'
import { listOperation, runForRequest } from '../graphql-operations.ts'
import type { ListData } from '../hal.ts'
import { ITEM_TYPES, respondWithItems } from '../items.ts'
import { respond, viewerOf } from '../respond.ts'
import { authorizeEmbeds } from '../selection.ts'
import { linker, type ReadOperation, withTemplates } from './resource-parts.ts'

export const list: ReadOperation = {
  method: 'GET',
  at: 'collection',
  requires: 'listed',
  action: 'read',
  id: 'list',
  summary: 'List',
  query: 'list',
  headers: ['PreferRead', 'IfNoneMatchRead', 'ConsistencyToken'],
  types: ITEM_TYPES,
  responses: {
    200: {
      description: 'A page, which may be empty.',
      headers: ['ETag', 'Preference-Applied', 'X-Total-Count'],
      body: 'page',
      links: { read: 'Read an item.' },
    },
    304: { description: 'Not modified.', headers: ['ETag', 'Preference-Applied'] },
  },

  handler(parts, { parent, column }) {
    const { resource, settings, executor, hal, forms, parseListQuery } = parts
    const addLinks = linker('list', parts)
    const referring = column === undefined ? {} : { column }
    const selected = parts.links.flatMap(({ on, selects }) => (on === 'list' && selects ? [selects] : []))
    const select = listOperation(resource, executor.prepare, column, selected)
    // Another definition shows other fields of the same versions.
    const shown = resource.shownLeaves.map(({ name }) => name).join()
    return async (ctx) => {
      const { variables, selection, parameters } = parseListQuery(ctx.URL.searchParams, ctx.querystring)
      if (selection) authorizeEmbeds(callerOf(ctx), selection)
      const of = parent && { resource: parent, id: ctx['params']['parentId'] as string, ...referring }
      ctx.vary('Prefer')
      const counted = preferencesOf(ctx).count === undefined
      if (!counted) reportApplied(ctx, 'count=none')
      const { caller, urls, hasTemplates } = viewerOf(ctx, settings)
      const templates = hasTemplates ? forms.list(caller, of, urls) : undefined
      const offered = templates && [variantOf(templates), resource.variant ?? []].flat().join(':')
      const variant = listVariant(ctx, [urls.base, counted, offered, shown])
      const embeds = selection?.embeds !== undefined || hasRelatedTitle(resource)
      // A revision covers the page and the versions of its items, but not what is embedded, or in a title.
      const unlessRevision = embeds ? undefined : knownRevision(ctx, variant)
      const ran = await runForRequest(ctx, select(selection, counted), {
        ...(of && { parentId: of.id }),
        ...variables,
        apiVersion: resource.apiVersion,
        unlessRevision,
      })
      const result = ran['list'] as ListData['result']
      addLinks(ctx, urls, { data: result, limit: parameters.limit })
      const type = ctx.state.mediaType as string
      const send = () => {
        const document = hal.list({ result, page: variables.page, parameters, parent: of, selection }, urls)
        if (counted) ctx.set('X-Total-Count', String(document.total_count))
        if (ITEM_TYPES.includes(type)) {
          respondWithItems(ctx, type, document, selection?.leaves ?? resource.shownLeaves)
        } else respond(ctx, 200, withTemplates(document, templates), embeds)
      }
      if (embeds) send()
      const { revision } = result
      // Without a revision, the page in the headers of CSV and NDJSON would be missing.
      ctx.set('ETag', listTag(embeds ? contentVariant(`${ctx.body}${revision}`) : revision, variant))
      if (isNotModified(ctx)) ctx.status = 304
      else if (!embeds) send()
    }
  },
}
