import { requireAccess } from '../database/referred.ts'
import type { Resource, Values } from '../model/definition/resource.ts'
import { viewFor, viewOf } from '../model/definition/views.ts'
import { refuseInvalid } from '../model/errors.ts'
import { completeValues, toValues } from '../model/rows/columns.ts'
import { isIdentifier, isResourceKey, makeIdentifier, type ResourceKey } from '../model/rows/identifiers.ts'
import { type Precondition, requireState } from '../model/rows/precondition.ts'
import type { Row } from '../model/rows/row.ts'
import { inspectResource, refuseReadOnlyChanges } from '../model/validate.ts'
import { isObject } from '../model/values.ts'
import type { WriteContext } from './context.ts'
import { idempotencyRecord } from './idempotency.ts'
import { notFoundOrGone, parentNotFoundOrGone, resourceNotFound } from './read.ts'
import { refuseHiddenIdentifier } from './rules.ts'
import { retry } from './transaction.ts'
import { insertResource, removeResource, updateResource, type Written } from './write-row.ts'

/** Each kind of write has some of them. */
export interface WriteOptions extends Precondition {
  /** The API version of the body, which has all fields by default. */
  readonly apiVersion?: string | undefined
  readonly readOnly?: Values
  readonly mayCreate?: boolean
  readonly strict?: boolean
  /** For idempotency. */
  readonly key?: string | undefined
  /** The identifier in the body. It is ignored, unless a resource has it. */
  readonly otherThan?: string | undefined
}

export interface Outcome {
  readonly outcome: Written['outcome'] | 'DELETED' | 'ABSENT'
  readonly row?: Row
}

export const WRITES = {
  create: createResource,
  put: putResource,
  patch: patchResource,
  delete: deleteResource,
} as const

export type WriteKind = keyof typeof WRITES

/**
 * Creates a resource with a generated identifier (SPEC §4.3); with an idempotency key, only once.
 *
 * @throws {DomainError} VALIDATION_FAILED, BUSINESS_RULE_VIOLATION (also for a key of another body),
 *   RESOURCE_ALREADY_EXISTS, and RESOURCE_NOT_FOUND or RESOURCE_GONE for the parent
 */
async function createResource(
  context: WriteContext,
  resource: Resource,
  { parentId }: Pick<ResourceKey, 'parentId'>,
  body: Values,
  { key, otherThan, apiVersion }: WriteOptions,
): Promise<Written> {
  const values = newValues(context, resource, { parentId }, body, apiVersion)
  await refuseHiddenParent(context, resource, { parentId })
  const record =
    key === undefined
      ? undefined
      : idempotencyRecord(context, resource, parentId, values, { key, apiVersion })
  return retry(async () => {
    const row = await record?.find()
    if (row) {
      await requireAccess(context.client, context.access, 'create', resource, row)
      return { outcome: 'CREATED', row }
    }
    return insertResource(context, resource, { parentId, id: makeIdentifier(resource) }, values, {
      record,
      otherThan,
    })
  })
}

/**
 * Creates or replaces a resource (SPEC §4.4, §4.5). A replacement clears the fields that the body omits, except
 * those outside its API version. A body that changes nothing does not change the version.
 *
 * @throws {DomainError} as {@link createResource}, and CONCURRENT_MODIFICATION, RESOURCE_NOT_FOUND if the
 *   resource may not be created, PRECONDITION_FAILED if it may not be replaced
 */
async function putResource(
  context: WriteContext,
  resource: Resource,
  key: ResourceKey,
  body: Values,
  options: WriteOptions,
): Promise<Written> {
  refuseMalformedKey(resource, key)
  const view = viewFor(viewOf(resource, options.apiVersion), context.caller)
  const values = validated(view, body)
  return retry(async () => {
    const row = await context.client.findByKey(resource, key, context.access)
    if (row) return change(context, resource, key, row, options, () => values)
    // A resource that does not exist has none of the versions.
    if (options.mayCreate === false || options.versions) throw resourceNotFound(resource, key, CREATE_ADVICE)
    const whole = completed(resource, view, values)
    await refuseHiddenParent(context, resource, key)
    if (context.access.isLimited(resource)) await refuseHiddenIdentifier(context.client, resource, key)
    return insertResource(context, resource, key, whole)
  })
}

/**
 * Writes do not look up the parent first, but to a caller with limits, a parent that it may not read is missing.
 *
 * @throws {DomainError} RESOURCE_NOT_FOUND (404), RESOURCE_GONE (410)
 */
async function refuseHiddenParent(
  { access, client }: WriteContext,
  resource: Resource,
  key: Pick<ResourceKey, 'parentId'>,
): Promise<void> {
  const error = access.isLimited(resource) && (await parentNotFoundOrGone(client, resource, key, access))
  if (error) throw error
}

/**
 * Applies a merge patch (SPEC §4.6, RFC 7396) and validates the result as a whole.
 *
 * @throws {DomainError} VALIDATION_FAILED, BUSINESS_RULE_VIOLATION, RESOURCE_ALREADY_EXISTS,
 *   RESOURCE_NOT_FOUND, CONCURRENT_MODIFICATION
 */
async function patchResource(
  context: WriteContext,
  resource: Resource,
  key: ResourceKey,
  patch: Values,
  options: WriteOptions,
): Promise<Written> {
  return retry(async () => {
    const row = isResourceKey(key) ? await context.client.findByKey(resource, key, context.access) : null
    if (!row) throw resourceNotFound(resource, key)
    const patched = (view: Resource) =>
      validated(view, mergePatch(writableValues(view, row), patch) as Values)
    return change(context, resource, key, row, options, patched)
  })
}

/**
 * Deletes a resource and the resources it owns. Idempotent: a missing resource counts as deleted (SPEC §4.7).
 *
 * @throws {DomainError} DEPENDENCY_CONFLICT and CONCURRENT_MODIFICATION (409); when strict,
 *   RESOURCE_NOT_FOUND (404) and RESOURCE_GONE (410)
 */
async function deleteResource(
  context: WriteContext,
  resource: Resource,
  key: ResourceKey,
  _: Values,
  { strict, ...condition }: WriteOptions,
): Promise<Outcome> {
  const outcome = isResourceKey(key)
    ? await retry(() => removeResource(context, resource, key, condition))
    : 'ABSENT'
  if (outcome === 'ABSENT' && strict)
    throw await notFoundOrGone(context.client, resource, key, context.access)
  return { outcome }
}

async function change(
  context: WriteContext,
  resource: Resource,
  key: ResourceKey,
  row: Row,
  { readOnly = {}, apiVersion, ...condition }: WriteOptions,
  valuesOf: (view: Resource) => Values,
): Promise<Written> {
  await requireAccess(context.client, context.access, 'change', resource, row)
  requireState(row, key, condition)
  refuseReadOnlyChanges(resource, readOnly, toValues(resource, row))
  const view = viewFor(viewOf(resource, apiVersion), context.caller)
  return updateResource(context, resource, key, row, completed(resource, view, valuesOf(view), row))
}

/**
 * Applies a JSON Merge Patch (RFC 7396 §2) without changing its arguments: null removes a member, objects are
 * merged, and other values replace.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const members = new Map(Object.entries(isObject(target) ? target : {}))
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name)
    else members.set(name, mergePatch(members.get(name), value))
  }
  return Object.fromEntries(members)
}

const NO_IDENTIFIER =
  'An identifier must have 1 to 64 of the characters A–Z a–z 0–9 . _ ~ - and must not be "." or "..".'

const CREATE_ADVICE = 'To create it, send its id in the body or If-None-Match: *, without If-Match.'

/** @throws {DomainError} VALIDATION_FAILED (400), or RESOURCE_NOT_FOUND (404) for a malformed parent */
export function newValues(
  { caller }: WriteContext,
  resource: Resource,
  { parentId }: Pick<ResourceKey, 'parentId'>,
  body: Values,
  apiVersion: string | undefined,
): Values {
  refuseMalformedParent(resource, parentId)
  const view = viewFor(viewOf(resource, apiVersion), caller)
  return completed(resource, view, validated(view, body))
}

/** @throws {DomainError} VALIDATION_FAILED (400), or RESOURCE_NOT_FOUND (404) for a malformed parent */
export function refuseMalformedKey(resource: Resource, { parentId, id }: ResourceKey): void {
  refuseMalformedParent(resource, parentId)
  if (!isIdentifier(id)) refuseInvalid([{ field: 'id', code: 'INVALID_VALUE', message: NO_IDENTIFIER }])
}

function refuseMalformedParent({ owner }: Resource, id: string | undefined): void {
  if (owner && id !== undefined && !isIdentifier(id)) throw resourceNotFound(owner, { id })
}

function validated(resource: Resource, body: Values): Values {
  const { values, details } = inspectResource(resource, body)
  refuseInvalid(details)
  return values
}

/** @throws {DomainError} VALIDATION_FAILED (400) for a check, which needs the whole resource */
function completed(resource: Resource, view: Resource, values: Values, before?: Row): Values {
  const whole = completeValues(resource, view, values, before)
  const checks = view === resource ? [] : (resource.checks ?? [])
  refuseInvalid(checks.flatMap((check) => check(whole, undefined)))
  return whole
}

/** Includes stored values that are invalid: a patch must not lose them. */
function writableValues(view: Resource, row: Row): Values {
  return Object.fromEntries(
    Object.entries(toValues(view, row)).filter(([name]) => name in view.writableFields),
  )
}
