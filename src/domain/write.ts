import { apply } from 'json-merge-patch'
import { modelOf } from '../database/client.ts'
import { insertResource, updateResource, type Written } from './changes.ts'
import type { WriteContext } from './context.ts'
import { IdempotencyRecord, type RequestKey } from './idempotency.ts'
import { DomainError, refuseInvalid } from './model/errors.ts'
import {
  IDENTIFIER_FORM,
  isIdentifier,
  isResourceKey,
  makeIdentifier,
  type ResourceKey,
} from './model/identifiers.ts'
import { type Precondition, requireState } from './model/precondition.ts'
import type { Resource, Values } from './model/resource.ts'
import type { Row } from './model/row.ts'
import { toValues } from './model/rows.ts'
import { inspectPatch, inspectResource, refuseReadOnlyChanges } from './model/validate.ts'
import { notFound } from './not-found.ts'
import { retry } from './retry.ts'

interface PutOptions extends Precondition {
  /** Whether a new resource may be created. */
  readonly mayCreate: boolean
  /** Whether an existing resource may be replaced. */
  readonly mayReplace: boolean
  /** The read-only fields of the body. */
  readonly readOnly: Values
}

interface CreateOptions {
  /** With a key, a repeated request creates once. */
  readonly key?: RequestKey | undefined
  /** An identifier that the caller has sent: ignored, unless a resource has it. */
  readonly otherThan?: string | undefined
}

interface PatchOptions extends Precondition {
  readonly readOnly: Values
}

/**
 * Creates a resource with a generated identifier (SPEC §4.3); with an idempotency key, only once.
 *
 * @throws {DomainError} VALIDATION_FAILED, BUSINESS_RULE_VIOLATION (also for a key of another body),
 *   RESOURCE_ALREADY_EXISTS, and RESOURCE_NOT_FOUND or RESOURCE_GONE for the parent
 */
export async function createResource(
  context: WriteContext,
  resource: Resource,
  parentId: string | undefined,
  body: Values,
  { key, otherThan }: CreateOptions = {},
): Promise<Written> {
  refuseMalformedParent(resource, parentId)
  const values = validated(resource, body)
  const { client, idempotencyKeyHours: hours } = context
  const record = key && new IdempotencyRecord({ client, resource, parentId, key, values, hours })
  return retry(async () => {
    const row = await record?.find()
    if (row) return { outcome: 'CREATED', row }
    return insertResource(context, resource, { parentId, id: makeIdentifier(resource) }, values, {
      record,
      otherThan,
    })
  })
}

/**
 * Creates or replaces the resource with a key (SPEC §4.4, §4.5). A replacement clears the fields that the
 * body omits. A body that changes nothing does not change the version.
 *
 * @throws {DomainError} as {@link createResource}, and CONCURRENT_MODIFICATION, RESOURCE_NOT_FOUND if the
 *   resource may not be created, PRECONDITION_FAILED if it may not be replaced
 */
export async function putResource(
  context: WriteContext,
  resource: Resource,
  key: ResourceKey,
  body: Values,
  options: PutOptions,
): Promise<Written> {
  refuseMalformedParent(resource, key.parentId)
  refuseMalformedIdentifier(key)
  const values = validated(resource, body)
  return retry(async () => {
    const row = await modelOf(context.client, resource).lookUp(resource, key)
    if (row) return replace(context, resource, key, row, values, options)
    if (!options.mayCreate) throw notFound(resource, key, CREATE_ADVICE)
    return insertResource(context, resource, key, values)
  })
}

/**
 * Applies a merge patch (SPEC §4.6, RFC 7396) and validates the result as a whole.
 *
 * @throws {DomainError} VALIDATION_FAILED, BUSINESS_RULE_VIOLATION, RESOURCE_ALREADY_EXISTS,
 *   RESOURCE_NOT_FOUND, CONCURRENT_MODIFICATION
 */
export async function patchResource(
  context: WriteContext,
  resource: Resource,
  key: ResourceKey,
  patch: Values,
  { readOnly, ...condition }: PatchOptions,
): Promise<Written> {
  const { values: changes, details } = inspectPatch(resource, patch)
  refuseInvalid(details)
  return retry(async () => {
    const row = isResourceKey(key) ? await modelOf(context.client, resource).lookUp(resource, key) : null
    if (!row) throw notFound(resource, key)
    requireState(row, key, condition)
    const stored = toValues(resource, row)
    refuseReadOnlyChanges(resource, readOnly, stored)
    const values = validated(resource, mergePatch(writableValues(resource, stored), changes) as Values)
    return updateResource(context, resource, key, row, values)
  })
}

/**
 * Applies a JSON Merge Patch without changing its arguments. RFC 7396 §2: null removes a member, objects are
 * merged, and other values replace.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  return apply(structuredClone(target), patch)
}

const CREATE_ADVICE = 'To create it, send its id in the body or If-None-Match: *, and no If-Match.'

function refuseMalformedIdentifier({ id }: ResourceKey): void {
  if (isIdentifier(id)) return
  refuseInvalid([{ field: 'id', code: 'INVALID_VALUE', message: `An identifier is ${IDENTIFIER_FORM}.` }])
}

function refuseMalformedParent({ owner }: Resource, id: string | undefined): void {
  if (owner && id !== undefined && !isIdentifier(id)) throw notFound(owner, { id })
}

function validated(resource: Resource, body: Values): Values {
  const { values, details } = inspectResource(resource, body)
  refuseInvalid(details)
  return values
}

/** Includes invalid stored values, which a patch must not lose. */
function writableValues({ writableFields }: Resource, stored: Values): Values {
  return Object.fromEntries(Object.entries(stored).filter(([name]) => name in writableFields))
}

async function replace(
  context: WriteContext,
  resource: Resource,
  key: ResourceKey,
  row: Row,
  values: Values,
  { mayReplace, readOnly, ...condition }: PutOptions,
): Promise<Written> {
  if (!mayReplace) {
    const current = { ...key, version: row.version }
    throw new DomainError('PRECONDITION_FAILED', 'The resource exists, and may only be created.', [], current)
  }
  requireState(row, key, condition)
  refuseReadOnlyChanges(resource, readOnly, toValues(resource, row))
  return updateResource(context, resource, key, row, values)
}
