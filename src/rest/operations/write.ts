import type { IncomingHttpHeaders } from 'node:http'
import type { Executor, PreparedOperation } from '../../graph/execution/operation.ts'
import { toGraphNames } from '../../graph/names.ts'
import { callerOf } from '../../http/auth/authenticate.ts'
import type { Context } from '../../http/context.ts'
import { type Preferences, parsePreferences } from '../../http/headers.ts'
import { readJsonBody } from '../../http/json.ts'
import { preferencesOf, reportApplied } from '../../http/negotiation.ts'
import type { Endpoint, Handler } from '../../http/routes.ts'
import { allows } from '../../model/access/caller.ts'
import type { Values } from '../../model/definition/resource.ts'
import { refuseSent } from '../../model/definition/views.ts'
import { refuseInvalid } from '../../model/errors.ts'
import { keyOf, type ResourceKey } from '../../model/rows/identifiers.ts'
import { type Inspection, type inspectResource, readOnlyDetail } from '../../model/validate.ts'
import { conditionVariables, describeVersion, stateHeaders } from '../conditional.ts'
import { withFormerNames } from '../former-names.ts'
import { type Mutation, showOperations, writeOperation } from '../graphql-operations.ts'
import type { Occasion } from '../hal.ts'
import type { ResourceOperation } from '../operation.ts'
import { QueryParameters } from '../query-parameters.ts'
import { respond, type Viewer, viewerOf } from '../respond.ts'
import { keyIn } from '../urls.ts'
import type { ResourceParts } from './resource-parts.ts'

/** A request of its own or in a batch. */
export interface WriteRequest {
  /** The identifiers in the path. The GraphQL variables have the same names. */
  readonly params: Partial<ResourceKey>
  readonly headers: IncomingHttpHeaders
  readonly preferences: Preferences
  readonly body?: unknown
}

export function writeRequest(
  params: Partial<ResourceKey>,
  headers: IncomingHttpHeaders,
  body: unknown,
): WriteRequest {
  return { params, headers, preferences: parsePreferences(headers['prefer'] as string | undefined), body }
}

interface WriteResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: object | undefined
}

interface WriteResult {
  readonly outcome: string
  /** Of resources whose access rules can hide them from the writer. */
  readonly isReadable?: boolean
  readonly resource: Values
}

/** An operation that writes. */
export interface WriteOperation extends ResourceOperation {
  readonly mutation: Mutation
  /**
   * The variables of a request.
   *
   * @throws {DomainError} VALIDATION_FAILED (400) for the body
   */
  read(request: WriteRequest, parts: ResourceParts): Values
  respond(result: Values, request: WriteRequest, viewer: Viewer, parts: ResourceParts): WriteResponse
  /** A preference that is applied whatever the result. */
  applied?(request: WriteRequest): string | undefined
}

export interface Write {
  readonly operation: PreparedOperation
  readonly variables: Values
  readonly applied: string | undefined
  /** The error with the names that fields have in the version of the API. */
  refusal(error: unknown): unknown
  respond(result: Values, viewer: Viewer): WriteResponse
}

/** A route of a write, which a batch can read, too. */
export interface WriteEndpoint extends Endpoint {
  readonly scope: NonNullable<Endpoint['scope']>
  readonly write: (request: WriteRequest) => Write
}

/** Makes the function that reads requests for a write. */
export function writeReader(
  operation: WriteOperation,
  parts: ResourceParts,
): (request: WriteRequest) => Write {
  const prepared = writeOperation(parts.resource, operation.at, operation.mutation, parts.executor.prepare)
  const { apiVersion } = parts.resource
  return (request) => ({
    operation: prepared,
    variables: { ...request.params, ...operation.read(request, parts), apiVersion },
    applied: operation.applied?.(request),
    refusal: (error) => withFormerNames(parts.resource, error),
    respond: (result, viewer) => operation.respond(result, request, viewer, parts),
  })
}

/** Handles a write that is not part of a batch. */
export function writeHandler(
  { body: accepted }: WriteOperation,
  read: (request: WriteRequest) => Write,
  { executor, settings }: ResourceParts,
): Handler {
  return async (ctx) => {
    // Only reads have query parameters (SPEC §4.1).
    if (ctx.querystring !== '') QueryParameters.refuse(ctx.URL.searchParams)
    const body = accepted && (await readJsonBody(ctx, accepted.types))
    const write = read({ params: ctx['params'], headers: ctx.headers, preferences: preferencesOf(ctx), body })
    if (write.applied !== undefined) reportApplied(ctx, write.applied)
    const { write: result } = await runWrite(ctx, write, executor).catch((error) =>
      Promise.reject(write.refusal(error)),
    )
    const response = write.respond(result as Values, viewerOf(ctx, settings))
    const { 'Preference-Applied': applied, ...described } = response.headers
    if (applied !== undefined && applied !== write.applied) reportApplied(ctx, applied)
    describeVersion(ctx, described)
    if (response.body) return respond(ctx, response.status, response.body)
    // Unless the body is null, Koa makes one from the status 201.
    ctx.body = null
    ctx.status = response.status
  }
}

/**
 * Responds to a creation or a change, with the body that the request prefers.
 *
 * @param creation which links a new resource has
 */
export function respondToChange(creation: Occasion): WriteOperation['respond'] {
  return (result, { preferences }, viewer, { resource, represent }) => {
    const { outcome, isReadable = true, resource: data } = result as Values & WriteResult
    const isCreated = outcome === 'CREATED'
    const { return: preferred } = preferences
    // Existing content is shown only to callers who may read it.
    const isShowable = isReadable && (isCreated || allows(viewer.caller, resource, 'read'))
    const isPreferred = preferred === 'minimal' || (preferred === 'representation' && isShowable)
    const hasBody = isPreferred ? preferred === 'representation' : isCreated && isReadable
    const shown = hasBody ? represent(data, isCreated ? creation : 'read', viewer) : undefined
    const href = viewer.urls.resource(resource, keyOf(resource, data))
    const isLenient = creation !== 'created' && preferences.handling === 'lenient'
    const applied = [isLenient && 'handling=lenient', isPreferred && `return=${preferred}`]
    const names = applied.filter((preference) => preference !== false).join(', ')
    return {
      status: isCreated ? 201 : hasBody ? 200 : 204,
      headers: {
        ...(names && { 'Preference-Applied': names }),
        ...((isCreated || hasBody) && { [isCreated ? 'Location' : 'Content-Location']: href }),
        ...(shown?.headers ?? stateHeaders(data, resource.variant)),
      },
      body: shown?.document(),
    }
  }
}

/** The precondition of a write on one resource, as variables. */
export function conditionOf(request: WriteRequest) {
  return conditionVariables(request, keyIn(request.params).id)
}

/**
 * An inspection has only values of known fields. Unknown fields are ignored by not reporting them.
 *
 * @throws {DomainError} ACCESS_DENIED (403) for a field that needs a scope
 */
export function inspected(
  { body }: WriteRequest,
  inspect: typeof inspectResource,
  { resource, settings }: ResourceParts,
): Inspection {
  refuseSent(resource, body)
  const inspection = inspect(resource, body)
  if (settings.unknownFields !== 'ignore') return inspection
  return { ...inspection, details: inspection.details.filter(({ code }) => code !== 'UNKNOWN_FIELD') }
}

/** Inspects the body of a PUT or PATCH. A wrong id is refused without a look-up. */
export function inspectedAt(request: WriteRequest, inspect: typeof inspectResource, parts: ResourceParts) {
  const { values, details, readOnly } = inspected(request, inspect, parts)
  const { id, ...sent } = readOnly
  const isWrong = id !== undefined && id !== keyIn(request.params).id
  refuseInvalid([...(isWrong ? [readOnlyDetail('id')] : []), ...details])
  // Read-only fields with other values are ignored (RFC 7240 §4.4).
  const isLenient = request.preferences.handling === 'lenient'
  return { values, readOnly: isLenient ? {} : toGraphNames(parts.resource, sent), hasId: 'id' in readOnly }
}

/** Runs writes in order, in one transaction. `Prefer: tx=rollback` undoes it at the end. */
export function runBatch(ctx: Context, writes: readonly Write[], { runTogether }: Executor) {
  const isDryRun = isDryRunOf(ctx)
  showOperations(ctx, () => writes.map((write) => shownWrite(write, isDryRun)))
  return runTogether(writes, callerOf(ctx), isDryRun)
}

async function runWrite(ctx: Context, write: Write, { runTogether }: Executor): Promise<Values> {
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
