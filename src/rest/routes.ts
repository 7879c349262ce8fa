import type { Context } from 'koa'
import { type Action, authorize } from '../domain/model/authorize.ts'
import { nestedReferences } from '../domain/model/relations.ts'
import type { Resource } from '../domain/model/resource.ts'
import type { Prepare } from '../graph/execution/operation.ts'
import { nestedListOperation, restOperations } from '../graph/rest-operations.ts'
import { entryHandler } from './entry.ts'
import { addressesFor, callerOf, type Handler, negotiate, type RestSettings } from './exchange.ts'
import { createHal } from './hal.ts'
import { createHandlers, type HandlerParts, listHandler } from './handlers.ts'

/** A path below `{base}` and what each method does there. Paths have `:parentId` and `:id`. */
export interface Route {
  readonly path: string
  readonly methods: Readonly<Partial<Record<Method, Handler>>>
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** All routes: the entry document, and those of each resource (SPEC §4). */
export function createRoutes(
  resources: readonly Resource[],
  prepare: Prepare,
  settings: RestSettings,
): Route[] {
  const entry: Route = { path: '', methods: { GET: open(entryHandler(prepare, settings)) } }
  return [entry, ...resources.flatMap((resource) => resourceRoutes(resource, resources, prepare, settings))]
}

function resourceRoutes(
  resource: Resource,
  resources: readonly Resource[],
  prepare: Prepare,
  settings: RestSettings,
): Route[] {
  const operations = restOperations(resource, resources, prepare)
  const parts: HandlerParts = { resource, operations, hal: createHal(resource, resources), settings }
  const { list, read, create, put, patch, remove } = createHandlers(parts)
  const { listed, replaceable } = resource
  const collection = resource.owner
    ? `/${resource.owner.path}/:parentId/${resource.path}`
    : `/${resource.path}`
  const profile = (ctx: Context) => {
    ctx.append('Link', `<${addressesFor(ctx, settings).base}/profile/${resource.path}>; rel="describedby"`)
  }
  const reading = guarded(resource, 'read', profile)
  const writing = guarded(resource, 'write', profile)
  const nested = nestedReferences(resource).map(({ column, field }): Route => {
    const parent = resources.find(({ path }) => path === field.to)
    const operation = nestedListOperation(resource, resources, column, prepare)
    const methods = { GET: reading(listHandler(parts, operation, parent)) }
    return { path: `/${field.to}/:parentId/${resource.path}`, methods }
  })
  return [
    ...(listed ? [{ path: collection, methods: { GET: reading(list), POST: writing(create) } }] : []),
    {
      path: listed ? `${collection}/:id` : collection,
      methods: {
        GET: reading(read),
        ...(replaceable && { PUT: writing(put), PATCH: writing(patch) }),
        DELETE: writing(remove),
      },
    },
    ...nested,
  ]
}

/** Scope first, then the media type of the answer; only then is the request looked at. */
function guarded(
  resource: Resource,
  action: Action,
  describe: (ctx: Context) => void,
): (handler: Handler) => Handler {
  return (handler) => async (ctx) => {
    authorize(callerOf(ctx), resource, action)
    negotiate(ctx)
    describe(ctx)
    await handler(ctx)
  }
}

/** For what every caller with a token may see. */
function open(handler: Handler): Handler {
  return async (ctx) => {
    negotiate(ctx)
    await handler(ctx)
  }
}
