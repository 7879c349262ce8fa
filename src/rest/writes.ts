import type { IncomingHttpHeaders } from 'node:http'
import type { Context } from 'koa'
import type { Executor, PreparedOperation } from '../graph/execution/operation.ts'
import { toGraphNames } from '../graph/names.ts'
import { callerOf } from '../http/auth/authenticate.ts'
import { preferencesOf, reportApplied } from '../http/headers/preferences.ts'
import { requestHeader } from '../http/headers/request-headers.ts'
import { allows } from '../model/caller.ts'
import { refuseInvalid } from '../model/errors.ts'
import { keyOf, type ResourceKey } from '../model/identifiers.ts'
import type { Resource, Values } from '../model/resource.ts'
import { inspectPatch, inspectResource, readOnlyDetail } from '../model/validate.ts'
import { conditionVariables, stateHeaders } from './conditional.ts'
import type { Occasion } from './hal.ts'
import { type Operations, showOperations } from './operations.ts'
import type { Viewer } from './respond.ts'
import { keyIn, type RestSettings } from './urls.ts'

/** A request of its own or in a batch. */
export interface WriteRequest {
  /** The identifiers in the path. The GraphQL variables have the same names. */
  readonly params: Partial<ResourceKey>
  readonly headers: IncomingHttpHeaders
  readonly body?: unknown
}

type Headers = Readonly<Record<string, string>>

export type Represent = (
  data: Values,
  occasion: Occasion,
  viewer: Viewer,
) => { readonly headers: Headers; readonly document: () => object }

export interface Write {
  readonly operation: PreparedOperation
  readonly variables: Values
  /** A preference that is applied whatever the result. */
  readonly applied?: string
  respond(result: Values, viewer: Viewer): { status: number; headers: Headers; body?: object | undefined }
}

export type WriteName = 'create' | 'put' | 'patch' | 'remove'

/** @throws {DomainError} from the functions: VALIDATION_FAILED (400) for the body */
export function createWrites(
  resource: Resource,
  operations: Operations,
  settings: RestSettings,
  represent: Represent,
): Record<WriteName, (request: WriteRequest) => Write> {
  function write(name: WriteName, request: WriteRequest, variables: Values): Write {
    const { return: preferred } = preferencesOf(request)
    const isLenientWrite = name !== 'create' && isLenient(request)
    return {
      operation: operations[name],
      variables: { ...request.params, ...variables, apiVersion: resource.apiVersion },
      respond(result, viewer) {
        const { outcome, resource: data } = result as { outcome: string; resource: Values }
        const isCreated = outcome === 'CREATED'
        // Existing content is shown only to callers with the read scope.
        const isShowable = isCreated || allows(viewer.caller, resource, 'read')
        const isPreferred = preferred === 'minimal' || (preferred === 'representation' && isShowable)
        const hasBody = isPreferred ? preferred === 'representation' : isCreated
        const occasion = isCreated ? (name === 'put' ? 'put' : 'created') : 'read'
        const shown = hasBody ? represent(data, occasion, viewer) : undefined
        const href = viewer.urls.resource(resource, keyOf(resource, data))
        const applied = [isLenientWrite && 'handling=lenient', isPreferred && `return=${preferred}`]
        const preferences = applied.filter((preference) => preference !== false).join(', ')
        return {
          status: isCreated ? 201 : hasBody ? 200 : 204,
          headers: {
            ...(preferences && { 'Preference-Applied': preferences }),
            ...((isCreated || hasBody) && { [isCreated ? 'Location' : 'Content-Location']: href }),
            ...(shown?.headers ?? stateHeaders(data)),
          },
          body: shown?.document(),
        }
      },
    }
  }

  /** An inspection has only values of known fields. Unknown fields are ignored by not reporting them. */
  function inspected({ body }: WriteRequest, inspect: typeof inspectResource) {
    const inspection = inspect(resource, body)
    if (settings.unknownFields !== 'ignore') return inspection
    return { ...inspection, details: inspection.details.filter(({ code }) => code !== 'UNKNOWN_FIELD') }
  }

  /** Inspects the body of a PUT or PATCH. A wrong id is refused without a look-up. */
  function inspectedAt(request: WriteRequest, inspect: typeof inspectResource) {
    const { values, details, readOnly } = inspected(request, inspect)
    const { id, ...sent } = readOnly
    const isWrong = id !== undefined && id !== keyIn(request.params).id
    refuseInvalid([...(isWrong ? [readOnlyDetail('id')] : []), ...details])
    const checked = isLenient(request) ? {} : toGraphNames(resource, sent)
    return { values, readOnly: checked, hasId: 'id' in readOnly }
  }

  return {
    create(request) {
      const { values, details, readOnly } = inspected(request, inspectResource)
      refuseInvalid(details)
      const { id: otherThan } = readOnly
      return write('create', request, {
        input: toGraphNames(resource, values),
        idempotencyKey: idempotencyKeyOf(request),
        otherThan: typeof otherThan === 'string' ? otherThan : undefined,
      })
    },

    put(request) {
      const { values, readOnly, hasId } = inspectedAt(request, inspectResource)
      const mustNotExist = requestHeader(request, 'IfNoneMatchWrite')?.trim() === '*'
      const isForCreation = resource.kind === 'singleton' || hasId || mustNotExist
      return write('put', request, {
        input: toGraphNames(resource, values),
        readOnly,
        ...conditionVariables(request, keyIn(request.params).id),
        mayCreate: isForCreation && requestHeader(request, 'IfMatch') === undefined,
        mayReplace: !mustNotExist,
      })
    },

    patch(request) {
      const { values, readOnly } = inspectedAt(request, inspectPatch)
      const patch = toGraphNames(resource, values)
      const condition = conditionVariables(request, keyIn(request.params).id)
      return write('patch', request, { patch, readOnly, ...condition })
    },

    remove(request) {
      const condition = conditionVariables(request, keyIn(request.params).id)
      const strict = preferencesOf(request).handling === 'strict'
      return {
        operation: operations.remove,
        variables: { ...request.params, ...condition, strict },
        ...(strict && { applied: 'handling=strict' }),
        respond: () => ({ status: 204, headers: strict ? { 'Preference-Applied': 'handling=strict' } : {} }),
      }
    },
  }
}

/** Runs writes in order, in one transaction. `Prefer: tx=rollback` undoes it at the end. */
export function runBatch(ctx: Context, writes: readonly Write[], { runTogether }: Executor) {
  const isDryRun = isDryRunOf(ctx)
  showOperations(ctx, () => writes.map((write) => shownWrite(write, isDryRun)))
  return runTogether(writes, callerOf(ctx), isDryRun)
}

/** Runs a write that is not part of a batch. */
export async function runWrite(ctx: Context, write: Write, { runTogether }: Executor): Promise<Values> {
  const isDryRun = isDryRunOf(ctx)
  showOperations(ctx, () => shownWrite(write, isDryRun))
  if (!isDryRun) return write.operation.run(write.variables, callerOf(ctx))
  const { results, failure } = await runTogether([write], callerOf(ctx), true)
  if (failure) throw failure
  return results[0] as Values
}

function isDryRunOf(ctx: Context): boolean {
  const { tx } = preferencesOf(ctx)
  if (tx !== undefined) reportApplied(ctx, `tx=${tx}`)
  return tx === 'rollback'
}

function shownWrite({ operation, variables }: Write, isDryRun: boolean) {
  return { query: isDryRun ? operation.show('dryRun') : operation.show(), variables }
}

/** Whether read-only fields with other values are ignored (RFC 7240 §4.4). */
function isLenient(request: WriteRequest): boolean {
  return preferencesOf(request).handling === 'lenient'
}

/**
 * The key that makes a POST safe to repeat (draft-ietf-httpapi-idempotency-key-header): a quoted string or, as most
 * clients send it, without quotes.
 */
export function idempotencyKeyOf(request: Pick<WriteRequest, 'headers'>): string | undefined {
  return requestHeader(request, 'IdempotencyKey')
    ?.trim()
    .replace(/^"(.*)"$/, '$1')
}
