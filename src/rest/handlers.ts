import type { Context } from 'koa'
import { refuseInvalid } from '../domain/model/errors.ts'
import { readOnlyDetail } from '../domain/model/read-only.ts'
import type { Resource } from '../domain/model/resource.ts'
import { type Inspection, inspectPatch, inspectResource } from '../domain/model/validate.ts'
import type { Data, Operation } from '../graph/execution/operation.ts'
import { toGraphNames } from '../graph/names.ts'
import type { RestOperations } from '../graph/rest-operations.ts'
import { readJsonBody } from '../http/json/body.ts'
import { isNotModified, preconditionsOf } from './conditional.ts'
import { entityTag } from './entity-tag.ts'
import {
  addressesFor,
  addressOfRequest,
  callerOf,
  type Handler,
  type RestSettings,
  respond,
} from './exchange.ts'
import { addressOf, type Hal, type ListData } from './hal.ts'
import { idempotencyKeyOf } from './idempotency-key.ts'
import { parseListQuery, refuseQuery } from './parse-list-query.ts'

/** The handlers of a resource: each runs one GraphQL operation and puts its answer into HTTP's terms. */
export interface Handlers {
  readonly list: Handler
  readonly read: Handler
  readonly create: Handler
  readonly put: Handler
  readonly patch: Handler
  readonly remove: Handler
}

/** What the handlers of a resource are made of. */
export interface HandlerParts {
  readonly resource: Resource
  readonly operations: RestOperations
  readonly hal: Hal
  readonly settings: RestSettings
}

/** Makes the handlers of a resource (SPEC §4.1–4.7). */
export function createHandlers(parts: HandlerParts): Handlers {
  const { resource, operations, hal, settings } = parts

  /** A resource, with the headers that describe the state it is shown in. */
  function respondWith(ctx: Context, status: number, data: Data, occasion: 'read' | 'created' | 'put'): void {
    describeState(ctx, data)
    const addresses = addressesFor(ctx, settings)
    const address = addressOf(resource, data)
    if (status === 201) ctx.set('Location', addresses.resource(resource, address))
    respond(ctx, status, hal.resource(data, address, occasion, addresses))
  }

  function respondToWrite(ctx: Context, write: Data, occasion: 'created' | 'put'): void {
    const data = write['resource'] as Data
    if (write['outcome'] === 'CREATED') respondWith(ctx, 201, data, occasion)
    else respondEmpty(ctx, 204, data)
  }

  return {
    list: listHandler(parts, operations.list, resource.owner),

    async read(ctx) {
      refuseQuery(ctx.URL.searchParams)
      const data = (await operations.read(pathVariables(ctx), callerOf(ctx)))['resource'] as Data
      const isKnown = isNotModified(ctx.headers, data['id'] as string, data['version'] as number)
      if (isKnown) respondEmpty(ctx, 304, data)
      else respondWith(ctx, 200, data, 'read')
    },

    async create(ctx) {
      const { values, details } = inspectResource(resource, await readJsonBody(ctx))
      refuseInvalid(details)
      const idempotencyKey = idempotencyKeyOf(ctx.headers)
      const variables = { ...pathVariables(ctx), input: toGraphNames(resource, values), idempotencyKey }
      const { write } = await operations.create(variables, callerOf(ctx))
      respondToWrite(ctx, write as Data, 'created')
    },

    async put(ctx) {
      const { id } = addressOfRequest(ctx)
      const { values, details, readOnly } = inspectResource(resource, await readJsonBody(ctx))
      const { sent, problems } = identified(readOnly, id)
      refuseInvalid([...problems, ...details])
      const { versions, mustExist, mustNotExist } = preconditionsOf(ctx.headers, id)
      const namesItself = resource.kind === 'singleton' || 'id' in readOnly
      const variables = {
        ...pathVariables(ctx),
        input: toGraphNames(resource, values),
        readOnly: toGraphNames(resource, sent),
        ifVersion: versions,
        mayCreate: namesItself && !mustExist,
        mayReplace: !mustNotExist,
      }
      const { write } = await operations.put(variables, callerOf(ctx))
      respondToWrite(ctx, write as Data, 'put')
    },

    async patch(ctx) {
      const { id } = addressOfRequest(ctx)
      const { values, details, readOnly } = inspectPatch(resource, await readJsonBody(ctx))
      const { sent, problems } = identified(readOnly, id)
      refuseInvalid([...problems, ...details])
      const { versions } = preconditionsOf(ctx.headers, id)
      const variables = {
        ...pathVariables(ctx),
        patch: toGraphNames(resource, values),
        readOnly: toGraphNames(resource, sent),
        ifVersion: versions,
      }
      const { write } = await operations.patch(variables, callerOf(ctx))
      respondToWrite(ctx, write as Data, 'put')
    },

    async remove(ctx) {
      const { versions } = preconditionsOf(ctx.headers, addressOfRequest(ctx).id)
      const strict = /(?:^|[,;\s])handling\s*=\s*"?strict"?/i.test(ctx.get('Prefer'))
      if (strict) ctx.set('Preference-Applied', 'handling=strict')
      await operations.remove({ ...pathVariables(ctx), ifVersion: versions, strict }, callerOf(ctx))
      ctx.status = 204
    },
  }
}

/** Answers with a page of a list; of the resources of one parent, where there is one. */
export function listHandler(
  { resource, hal, settings }: HandlerParts,
  operation: Operation,
  parent: Resource | undefined,
): Handler {
  return async (ctx) => {
    const query = parseListQuery(resource, ctx.URL.searchParams, settings.maximumPageSize)
    const { page, limit, text } = query
    const parentId = addressOfRequest(ctx).parentId as string
    const variables = {
      ...(parent && { parentId }),
      page,
      limit,
      cursor: text.cursor,
      sort: query.sort,
      filter: query.filter,
    }
    const list = (await operation(variables, callerOf(ctx)))['list'] as Data
    const data: ListData = {
      items: list['items'] as Data[],
      totalCount: list['total_count'] as number,
      hasMore: list['has_more'] as boolean,
      cursors: { next: list['next'] as string | null, previous: list['previous'] as string | null },
      page,
      address: { limit, ...text },
      parent: parent && { resource: parent, id: parentId },
    }
    respond(ctx, 200, hal.list(data, addressesFor(ctx, settings)))
  }
}

/** An id in the body is compared with the path at once: it needs no look-up to be wrong. */
function identified(readOnly: Inspection['readOnly'], id: string) {
  const { id: sentId, ...sent } = readOnly
  const isWrong = sentId !== undefined && sentId !== id
  return { sent, problems: isWrong ? [readOnlyDetail('id')] : [] }
}

/** The identifiers in the path, which the documents name as the routes do. */
function pathVariables(ctx: Context): Data {
  return ctx['params'] as Data
}

function respondEmpty(ctx: Context, status: 204 | 304, data: Data): void {
  describeState(ctx, data)
  ctx.status = status
}

/** The headers that a later conditional request needs (RFC 9110 §8.8). */
function describeState(ctx: Context, data: Data): void {
  ctx.set('ETag', entityTag(data['id'] as string, data['version'] as number))
  ctx.set('Last-Modified', (data['last_updated'] as Date).toUTCString())
}
