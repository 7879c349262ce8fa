import { callerOf } from '../../http/auth/authenticate.ts'
import type { Context } from '../../http/context.ts'
import { STATE_HEADERS } from '../../http/headers.ts'
import type { Values } from '../../model/definition/resource.ts'
import { hasRelatedTitle } from '../../model/definition/titles.ts'
import { DomainError } from '../../model/errors.ts'
import { contentVariant, describeVersion, isNotModified, stateHeaders } from '../conditional.ts'
import { readOperation, runForRequest, withAllFields } from '../graphql-operations.ts'
import type { Selection } from '../hal.ts'
import { QueryParameters } from '../query-parameters.ts'
import { respond, type Viewer, viewerOf } from '../respond.ts'
import { authorizeEmbeds, SELECTION_PARAMETERS } from '../selection.ts'
import { linker, type ReadOperation, type ResourceParts, withTemplates } from './resource-parts.ts'

export const read: ReadOperation = {
  method: 'GET',
  at: 'resource',
  action: 'read',
  id: 'read',
  summary: 'Read',
  query: 'selection',
  headers: ['IfNoneMatchRead', 'IfModifiedSince', 'ConsistencyToken'],
  responses: {
    200: { description: 'The resource.', headers: STATE_HEADERS, body: 'read' },
    304: { description: 'Not modified.', headers: STATE_HEADERS },
  },

  handler(parts) {
    const { resource, executor, represent, settings } = parts
    const addLinks = linker('resource', parts)
    const select = readOperation(resource, executor.prepare)
    return async (ctx) => {
      const selection = selectionOf(ctx, parts)
      if (selection) authorizeEmbeds(callerOf(ctx), selection)
      const viewer = viewerOf(ctx, settings)
      // Forms show the values of all fields.
      const read = select(viewer.hasTemplates ? withAllFields(selection) : selection)
      const run = runForRequest(ctx, read, ctx['params'])
      const result = await run.catch((error) => {
        if (error instanceof DomainError && error.code === 'RESOURCE_GONE') addLinks(ctx, viewer.urls)
        throw error
      })
      const data = result['resource'] as Values
      addLinks(ctx, viewer.urls)
      if (selection) return respondWithSelection(ctx, data, selection, viewer, parts)
      const { headers, document } = represent(data, 'read', viewer)
      describeVersion(ctx, headers)
      if (hasRelatedTitle(resource)) ctx.remove('Last-Modified')
      if (isNotModified(ctx)) ctx.status = 304
      else respond(ctx, 200, document())
    }
  },
}

function selectionOf(ctx: Context, { parseSelection }: ResourceParts): Selection | undefined {
  // Koa parses the URL when it is first needed, which takes 3 % of the time of a request.
  if (ctx.querystring === '') return undefined
  const parameters = new QueryParameters(ctx.URL.searchParams)
  parameters.checkNames(SELECTION_PARAMETERS, SELECTION_PARAMETERS)
  const selection = parseSelection(parameters)
  parameters.refuseProblems()
  return selection
}

/** The entity tag is a digest of the content, which includes embedded resources. */
function respondWithSelection(
  ctx: Context,
  data: Values,
  selection: Selection,
  viewer: Viewer,
  { hal, resource, templatesOf }: ResourceParts,
): void {
  const document = hal.resource(data, 'read', viewer.urls, selection)
  respond(ctx, 200, withTemplates(document, templatesOf(data, viewer)), selection.embeds !== undefined)
  describeVersion(ctx, stateHeaders(data, contentVariant(ctx.body as string)))
  if (selection.embeds || hasRelatedTitle(resource)) ctx.remove('Last-Modified')
  if (isNotModified(ctx)) ctx.status = 304
}
