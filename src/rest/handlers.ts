import type { Context } from 'koa'
import type { Prepare } from '../graph/execution/operation.ts'
import { callerOf } from '../http/auth/authenticate.ts'
import { readJsonBody } from '../http/json.ts'
import { preferencesOf, reportApplied } from '../http/negotiation.ts'
import type { Handler } from '../http/routes.ts'
import type { Resource, Values } from '../model/resource.ts'
import { changesUrl } from './changes/feed.ts'
import { linkVersions } from './changes/versions.ts'
import {
  contentVariant,
  describeVersion,
  isNotModified,
  knownRevision,
  listTag,
  listVariant,
  stateHeaders,
} from './conditional.ts'
import { createForms, type Templates, variantOf } from './forms.ts'
import { createHal, type ListData, type Selection } from './hal.ts'
import { ITEM_TYPES, respondWithItems } from './items.ts'
import { type Operations, runForRequest, type SelectOperation, versionVariable } from './operations.ts'
import { listQueryParser } from './parse-list-query.ts'
import { QueryParameters } from './query-parameters.ts'
import { hasTemplates, respond } from './respond.ts'
import { authorizeEmbeds, SELECTION_PARAMETERS, selectionParser } from './selection.ts'
import { type RestSettings, type Urls, urlsFor } from './urls.ts'
import {
  createWrites,
  type PathParameters,
  type Represent,
  runWrites,
  type Viewer,
  type WriteName,
} from './writes.ts'

/**
 * Makes the handlers of a resource (SPEC §4.1–4.7). Each parses a request, runs one GraphQL operation, and responds with
 * its result.
 */
export function createHandlers(
  resource: Resource,
  resources: readonly Resource[],
  operations: Operations,
  prepare: Prepare,
  settings: RestSettings,
) {
  const hal = createHal(resource, resources)
  const forms = createForms(resource, resources)
  const parseSelection = selectionParser(resource, resources)
  const parse = listQueryParser(resource, settings.maximumPageSize, parseSelection)
  // Another definition shows something else of the same versions.
  const shown = resource.shownLeaves.map(({ name }) => name).join()

  /** The parameters of a single resource. */
  function selectionOf({ querystring, URL: { searchParams } }: Context): Selection | undefined {
    if (querystring === '') return undefined
    const parameters = new QueryParameters(searchParams)
    parameters.checkNames(SELECTION_PARAMETERS, SELECTION_PARAMETERS)
    const selection = parseSelection(parameters)
    parameters.refuseProblems()
    return selection
  }

  /** The entity tag covers the content, which also changes with what is embedded. */
  function respondWithSelection(ctx: Context, data: Values, selection: Selection): void {
    const { caller, urls, hasTemplates: isForms } = viewerOf(ctx)
    const templates = isForms ? forms.resource(caller, data, urls) : undefined
    const document = withTemplates(hal.resource(data, 'read', urls, selection), templates)
    respond(ctx, 200, document, selection.embeds !== undefined)
    describeVersion(ctx, stateHeaders(data, contentVariant(ctx.body as string)))
    if (selection.embeds) ctx.remove('Last-Modified')
    if (isNotModified(ctx)) ctx.status = 304
  }

  const represent: Represent = (data, occasion, { caller, urls, hasTemplates }) => {
    const templates = hasTemplates ? forms.resource(caller, data, urls) : undefined
    return {
      headers: stateHeaders(data, templates && variantOf(templates)),
      document: () => withTemplates(hal.resource(data, occasion, urls), templates),
    }
  }

  const viewerOf = (ctx: Context): Viewer => {
    return { caller: callerOf(ctx), urls: urlsFor(ctx, settings), hasTemplates: hasTemplates(ctx) }
  }

  const writes = createWrites(resource, operations, settings, represent)

  /** Runs a write that is not part of a batch. */
  function writing(name: WriteName): Handler {
    return async (ctx) => {
      const body = name === 'remove' ? undefined : await readJsonBody(ctx)
      const write = writes[name]({ parameters: ctx['params'], headers: ctx.headers, body })
      if (write.applied !== undefined) reportApplied(ctx, write.applied)
      const [result] = await runWrites(ctx, [write], prepare, false)
      const response = write.respond(result as Values, viewerOf(ctx))
      const { 'Preference-Applied': applied, ...headers } = response.headers
      if (applied !== undefined && applied !== write.applied) reportApplied(ctx, applied)
      describeVersion(ctx, headers)
      if (response.body) return respond(ctx, response.status, response.body)
      // Koa makes a body of the status of a 201, unless there expressly is none.
      ctx.body = null
      ctx.status = response.status
    }
  }

  /** Links to the feed at a position that the list, which is read after this, includes. */
  function linkChanges(ctx: Context, urls: Urls, limit: number): void {
    const since = settings.linksChanges && settings.feed?.cursor
    if (!since) return
    const href = changesUrl(urls, { since, collections: [resource.path], limit })
    ctx.append('Link', `<${href}>; rel="changes"`)
  }

  return {
    /** Pages of a list; of the resources of one parent, where there is one. */
    list(operation: SelectOperation, parent: Resource | undefined): Handler {
      return async (ctx) => {
        const { page, sort, filter, selection: selected, parameters } = parse(ctx.URL.searchParams)
        authorizeEmbeds(callerOf(ctx), selected)
        const { limit, q: search, cursor } = parameters
        const { parentId } = ctx['params'] as PathParameters
        const selection = { sort, filter, search, ...versionVariable(resource) }
        const counted = isCounted(ctx)
        const of = parent && { resource: parent, id: parentId as string }
        const urls = urlsFor(ctx, settings)
        const templates = hasTemplates(ctx) ? forms.list(callerOf(ctx), of, urls) : undefined
        const variant = listVariant(ctx, [urls.base, counted, templates && variantOf(templates), shown])
        const embeds = selected?.embeds !== undefined
        // A revision covers the versions of the items alone.
        const unlessRevision = embeds ? undefined : knownRevision(ctx, variant)
        const place = { ...(parent && { parentId }), page, limit, cursor }
        const variables = { ...place, ...selection, unlessRevision }
        linkChanges(ctx, urls, limit)
        const ran = await runForRequest(ctx, operation(selected, counted), variables)
        const result = ran['list'] as ListData['result']
        const data = { result, page, parameters, parent: of, selection: selected }
        const type = ctx.state['mediaType'] as string
        const send = () => {
          const list = hal.list(data, urls)
          if (ITEM_TYPES.includes(type)) {
            respondWithItems(ctx, type, list, selected?.leaves ?? resource.shownLeaves)
          } else respond(ctx, 200, withTemplates(list, templates), embeds)
        }
        if (embeds) send()
        ctx.set('ETag', listTag(embeds ? contentVariant(ctx.body as string) : result.revision, variant))
        if (isNotModified(ctx)) ctx.status = 304
        else if (!embeds) send()
      }
    },

    async read(ctx: Context): Promise<void> {
      const selection = selectionOf(ctx)
      authorizeEmbeds(callerOf(ctx), selection)
      const result = await runForRequest(ctx, operations.read(selection), ctx['params'])
      const data = result['resource'] as Values
      linkVersions(ctx, resource, settings)
      if (selection) return respondWithSelection(ctx, data, selection)
      const { headers, document } = represent(data, 'read', viewerOf(ctx))
      describeVersion(ctx, headers)
      if (isNotModified(ctx)) ctx.status = 304
      else respond(ctx, 200, document())
    },

    create: writing('create'),
    put: writing('put'),
    patch: writing('patch'),
    remove: writing('remove'),
    writes,
  }
}

/** Whether a list is counted, unless the client prefers otherwise (`Prefer: count=none`). */
function isCounted(ctx: Context): boolean {
  ctx.vary('Prefer')
  if (preferencesOf(ctx).count === undefined) return true
  reportApplied(ctx, 'count=none')
  return false
}

function withTemplates(document: object, templates: Templates | undefined): object {
  return Object.keys(templates ?? {}).length === 0 ? document : { ...document, _templates: templates }
}
