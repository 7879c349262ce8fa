import type { Context } from 'koa'
import type { PreparedOperation } from '../graph/execution/operation.ts'
import { toGraphNames } from '../graph/names.ts'
import { callerOf } from '../http/auth/authenticate.ts'
import { readJsonBody } from '../http/json/body.ts'
import type { Handler } from '../http/routes.ts'
import { refuseInvalid } from '../model/errors.ts'
import { keyOf } from '../model/identifiers.ts'
import type { Resource, Values } from '../model/resource.ts'
import { type Inspection, inspectPatch, inspectResource, readOnlyDetail } from '../model/validate.ts'
import { conditionVariables, describeState, isNotModified } from './conditional.ts'
import { createForms, type Templates, variantOf } from './forms.ts'
import { createHal, type ListData } from './hal.ts'
import { runForRequest } from './operation-header.ts'
import type { Operations } from './operations.ts'
import { listQueryParser } from './parse-list-query.ts'
import { hasTemplates, respond } from './respond.ts'
import { type RestSettings, urlsFor } from './urls.ts'

/**
 * Makes the handlers of a resource (SPEC §4.1–4.7). Each parses a request, runs one GraphQL operation, and responds with
 * its result.
 */
export function createHandlers(
  resource: Resource,
  resources: readonly Resource[],
  operations: Operations,
  settings: RestSettings,
) {
  const hal = createHal(resource, resources)
  const forms = createForms(resource, resources)
  const parse = listQueryParser(resource, settings.maximumPageSize)
  // Only the lists and the writes of a view have this variable.
  const inVersion = resource.apiVersion === undefined ? {} : { apiVersion: resource.apiVersion }

  function respondWith(ctx: Context, status: 200 | 201, data: Values, occasion: 'read' | 'created' | 'put') {
    const urls = urlsFor(ctx, settings)
    const templates = hasTemplates(ctx) ? forms.resource(callerOf(ctx), data, urls) : undefined
    describeState(ctx, data, templates && variantOf(templates))
    if (status === 201) ctx.set('Location', urls.resource(resource, keyOf(resource, data)))
    if (status === 200 && isNotModified(ctx)) ctx.status = 304
    else respond(ctx, status, withTemplates(hal.resource(data, occasion, urls), templates))
  }

  async function write(ctx: Context, operation: PreparedOperation, variables: Values): Promise<void> {
    const result = await runForRequest(ctx, operation, { ...pathParameters(ctx), ...variables, ...inVersion })
    const { outcome, resource: data } = result['write'] as { outcome: string; resource: Values }
    if (outcome === 'CREATED') respondWith(ctx, 201, data, operation === operations.put ? 'put' : 'created')
    else {
      describeState(ctx, data)
      ctx.status = 204
    }
  }

  /** An inspection has values of known fields only, so unknown ones are ignored by not reporting them. */
  async function inspectBody(ctx: Context, inspect: typeof inspectResource): Promise<Inspection> {
    const inspection = inspect(resource, await readJsonBody(ctx))
    if (settings.unknownFields !== 'ignore') return inspection
    return { ...inspection, details: inspection.details.filter(({ code }) => code !== 'UNKNOWN_FIELD') }
  }

  /** The body of a PUT or a PATCH. A wrong id in it is refused without a look-up. */
  async function readBody(ctx: Context, inspect: typeof inspectResource) {
    const { values, details, readOnly } = await inspectBody(ctx, inspect)
    const { id, ...sent } = readOnly
    const isWrong = id !== undefined && id !== idOf(ctx)
    refuseInvalid([...(isWrong ? [readOnlyDetail('id')] : []), ...details])
    return { values, readOnly: toGraphNames(resource, sent), hasId: 'id' in readOnly }
  }

  return {
    /** Pages of a list; of the resources of one parent, where there is one. */
    list(operation: PreparedOperation, parent: Resource | undefined): Handler {
      return async (ctx) => {
        const { page, sort, filter, parameters } = parse(ctx.URL.searchParams)
        const { limit, search, cursor } = parameters
        const { parentId } = pathParameters(ctx)
        const selection = { sort, filter, search, ...inVersion }
        const variables = { ...(parent && { parentId }), page, limit, cursor, ...selection }
        const { list } = await runForRequest(ctx, operation, variables)
        const of = parent && { resource: parent, id: parentId as string }
        const data = { result: list as ListData['result'], page, parameters, parent: of }
        const urls = urlsFor(ctx, settings)
        const templates = hasTemplates(ctx) ? forms.list(callerOf(ctx), of, urls) : undefined
        respond(ctx, 200, withTemplates(hal.list(data, urls), templates))
      }
    },

    async read(ctx: Context): Promise<void> {
      const data = (await runForRequest(ctx, operations.read, pathParameters(ctx)))['resource'] as Values
      respondWith(ctx, 200, data, 'read')
    },

    async create(ctx: Context): Promise<void> {
      const { values, details, readOnly } = await inspectBody(ctx, inspectResource)
      refuseInvalid(details)
      const { id: otherThan } = readOnly
      await write(ctx, operations.create, {
        input: toGraphNames(resource, values),
        idempotencyKey: idempotencyKeyOf(ctx),
        otherThan: typeof otherThan === 'string' ? otherThan : undefined,
      })
    },

    async put(ctx: Context): Promise<void> {
      const { values, readOnly, hasId } = await readBody(ctx, inspectResource)
      const mustNotExist = ctx.headers['if-none-match']?.trim() === '*'
      const isForCreation = resource.kind === 'singleton' || hasId || mustNotExist
      await write(ctx, operations.put, {
        input: toGraphNames(resource, values),
        readOnly,
        ...conditionVariables(ctx, idOf(ctx)),
        mayCreate: isForCreation && ctx.headers['if-match'] === undefined,
        mayReplace: !mustNotExist,
      })
    },

    async patch(ctx: Context): Promise<void> {
      const { values, readOnly } = await readBody(ctx, inspectPatch)
      const patch = toGraphNames(resource, values)
      await write(ctx, operations.patch, { patch, readOnly, ...conditionVariables(ctx, idOf(ctx)) })
    },

    async remove(ctx: Context): Promise<void> {
      const condition = conditionVariables(ctx, idOf(ctx))
      const strict = /(?:^|[,;\s])handling\s*=\s*"?strict"?/i.test(ctx.get('Prefer'))
      if (strict) ctx.set('Preference-Applied', 'handling=strict')
      await runForRequest(ctx, operations.remove, { ...pathParameters(ctx), ...condition, strict })
      ctx.status = 204
    },
  }
}

function withTemplates(document: object, templates: Templates | undefined): object {
  return Object.keys(templates ?? {}).length === 0 ? document : { ...document, _templates: templates }
}

/** The identifiers in the path. The GraphQL variables have the same names. */
function pathParameters(ctx: Context): { parentId?: string; id?: string } {
  return ctx['params']
}

/** The identifier in the path; a singleton has that of its parent. */
function idOf(ctx: Context): string {
  const { parentId, id = parentId } = pathParameters(ctx)
  return id as string
}

/**
 * The key that makes a POST safe to repeat (draft-ietf-httpapi-idempotency-key-header), if any: a quoted string or, as
 * most clients send it, without quotes.
 */
function idempotencyKeyOf({ headers }: Context): string | undefined {
  const [header] = [headers['idempotency-key']].flat()
  return header?.trim().replace(/^"(.*)"$/, '$1')
}
