import type { Context } from 'koa'
import type { Executor } from '../graph/execution/operation.ts'
import { callerOf } from '../http/auth/authenticate.ts'
import { link } from '../http/headers/links.ts'
import { preferencesOf, reportApplied } from '../http/headers/preferences.ts'
import { readJsonBody } from '../http/json.ts'
import type { Handler } from '../http/routes.ts'
import { DomainError } from '../model/errors.ts'
import type { Resource, Values } from '../model/resource.ts'
import { changesUrl } from './changes/feed.ts'
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
import { RESOURCE_OPERATIONS } from './operations/served.ts'
import { type Operations, runForRequest, type SelectOperation } from './operations.ts'
import { listQueryParser } from './parse-list-query.ts'
import { QueryParameters } from './query-parameters.ts'
import { respond, type Viewer, viewerOf } from './respond.ts'
import { authorizeEmbeds, SELECTION_PARAMETERS, selectionParser } from './selection.ts'
import { type RestSettings, requestedUrl, type Urls, VERSIONS_PATH } from './urls.ts'
import { createWrites, type Represent, runWrite, type WriteName } from './writes.ts'

/** The handlers of a resource (SPEC §4.1–4.7). Each runs one GraphQL operation. */
export function createHandlers(
  resource: Resource,
  resources: readonly Resource[],
  operations: Operations,
  executor: Executor,
  settings: RestSettings,
) {
  const hal = createHal(resource, resources)
  const forms = createForms(resource, resources, RESOURCE_OPERATIONS)
  const parseSelection = selectionParser(resource, resources)
  const parse = listQueryParser(resource, settings.maximumPageSize, parseSelection)
  // Another definition shows other fields of the same versions.
  const shown = resource.shownLeaves.map(({ name }) => name).join()

  function selectionOf({ querystring, URL: { searchParams } }: Context): Selection | undefined {
    if (querystring === '') return undefined
    const parameters = new QueryParameters(searchParams)
    parameters.checkNames(SELECTION_PARAMETERS, SELECTION_PARAMETERS)
    const selection = parseSelection(parameters)
    parameters.refuseProblems()
    return selection
  }

  const templatesOf = (data: Values, { caller, urls, hasTemplates }: Viewer) =>
    hasTemplates ? forms.resource(caller, data, urls) : undefined

  /** The entity tag is a digest of the content, which includes embedded resources. */
  function respondWithSelection(ctx: Context, data: Values, selection: Selection): void {
    const viewer = viewerOf(ctx, settings)
    const document = hal.resource(data, 'read', viewer.urls, selection)
    respond(ctx, 200, withTemplates(document, templatesOf(data, viewer)), selection.embeds !== undefined)
    describeVersion(ctx, stateHeaders(data, contentVariant(ctx.body as string)))
    if (selection.embeds) ctx.remove('Last-Modified')
    if (isNotModified(ctx)) ctx.status = 304
  }

  const represent: Represent = (data, occasion, viewer) => {
    const templates = templatesOf(data, viewer)
    return {
      headers: stateHeaders(data, templates && variantOf(templates)),
      document: () => withTemplates(hal.resource(data, occasion, viewer.urls), templates),
    }
  }

  const writes = createWrites(resource, operations, settings, represent)

  /** Runs a write that is not part of a batch. */
  function writing(name: WriteName): Handler {
    return async (ctx) => {
      // Only reads have query parameters (SPEC §4.1).
      if (ctx.querystring !== '') QueryParameters.refuse(ctx.URL.searchParams)
      const body = name === 'remove' ? undefined : await readJsonBody(ctx)
      const write = writes[name]({ params: ctx['params'], headers: ctx.headers, body })
      if (write.applied !== undefined) reportApplied(ctx, write.applied)
      const { write: result } = await runWrite(ctx, write, executor)
      const response = write.respond(result as Values, viewerOf(ctx, settings))
      const { 'Preference-Applied': applied, ...headers } = response.headers
      if (applied !== undefined && applied !== write.applied) reportApplied(ctx, applied)
      describeVersion(ctx, headers)
      if (response.body) return respond(ctx, response.status, response.body)
      // Unless the body is null, Koa makes one from the status 201.
      ctx.body = null
      ctx.status = response.status
    }
  }

  /** Links to the feed, at the position of a list. */
  function linkChanges(ctx: Context, urls: Urls, limit: number, since: string): void {
    const href = changesUrl(urls, { since, collections: [resource.path], limit })
    ctx.append('Link', link(href, 'changes'))
  }

  /** RFC 5829 §3.1. */
  function linkVersions(ctx: Context): void {
    if (!settings.feed?.source.changesDays) return
    const href = requestedUrl(ctx, resource, settings)
    ctx.append('Link', link(href + VERSIONS_PATH, 'version-history'))
  }

  return {
    list(operation: SelectOperation, parent: Resource | undefined): Handler {
      return async (ctx) => {
        const { variables, selection, parameters } = parse(ctx.URL.searchParams)
        if (selection) authorizeEmbeds(callerOf(ctx), selection)
        const { parentId } = ctx['params']
        const of = parent && { resource: parent, id: parentId as string }
        const counted = isCounted(ctx)
        const { caller, urls, hasTemplates } = viewerOf(ctx, settings)
        const templates = hasTemplates ? forms.list(caller, of, urls) : undefined
        const variant = listVariant(ctx, [urls.base, counted, templates && variantOf(templates), shown])
        const embeds = selection?.embeds !== undefined
        // A revision covers the page and the versions of its items, but not what is embedded.
        const unlessRevision = embeds ? undefined : knownRevision(ctx, variant)
        const ran = await runForRequest(ctx, operation(selection, counted), {
          ...(parent && { parentId }),
          ...variables,
          apiVersion: resource.apiVersion,
          unlessRevision,
        })
        const result = ran['list'] as ListData['result']
        if (result.since) linkChanges(ctx, urls, parameters.limit, result.since)
        const data = { result, page: variables.page, parameters, parent: of, selection }
        const type = ctx.state['mediaType'] as string
        const send = () => {
          const list = hal.list(data, urls)
          if (ITEM_TYPES.includes(type)) {
            respondWithItems(ctx, type, list, selection?.leaves ?? resource.shownLeaves)
          } else respond(ctx, 200, withTemplates(list, templates), embeds)
        }
        if (embeds) send()
        const { revision } = result
        // Without a revision, the page in the headers of CSV and NDJSON would be missing.
        ctx.set('ETag', listTag(embeds ? contentVariant(`${ctx.body}${revision}`) : revision, variant))
        if (isNotModified(ctx)) ctx.status = 304
        else if (!embeds) send()
      }
    },

    async read(ctx: Context): Promise<void> {
      const selection = selectionOf(ctx)
      if (selection) authorizeEmbeds(callerOf(ctx), selection)
      const run = runForRequest(ctx, operations.read(selection), ctx['params'])
      const result = await run.catch((error) => {
        if (error instanceof DomainError && error.code === 'RESOURCE_GONE') linkVersions(ctx)
        throw error
      })
      const data = result['resource'] as Values
      linkVersions(ctx)
      if (selection) return respondWithSelection(ctx, data, selection)
      const { headers, document } = represent(data, 'read', viewerOf(ctx, settings))
      describeVersion(ctx, headers)
      if (isNotModified(ctx)) ctx.status = 304
      else respond(ctx, 200, document())
    },

    writing,
    writes,
  }
}

function isCounted(ctx: Context): boolean {
  ctx.vary('Prefer')
  if (preferencesOf(ctx).count === undefined) return true
  reportApplied(ctx, 'count=none')
  return false
}

function withTemplates(document: object, templates: Templates | undefined): object {
  return Object.keys(templates ?? {}).length === 0 ? document : { ...document, _templates: templates }
}
