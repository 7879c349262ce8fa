import { modelOf } from '../database/client.ts'
import { insertResource, updateResource, type Written } from './changes.ts'
import type { WriteContext } from './context.ts'
import { OnceOnly, type RequestKey } from './idempotency.ts'
import { DomainError, refuseInvalid } from './model/errors.ts'
import {
  type Address,
  IDENTIFIER_FORM,
  isAddress,
  isIdentifier,
  makeIdentifier,
} from './model/identifiers.ts'
import { mergePatch } from './model/merge-patch.ts'
import { type Precondition, requireState } from './model/precondition.ts'
import { refuseReadOnlyChanges } from './model/read-only.ts'
import type { Resource, Values } from './model/resource.ts'
import type { Row } from './model/row.ts'
import { toValues } from './model/rows.ts'
import { inspectPatch, inspectResource } from './model/validate.ts'
import { notFound } from './not-found.ts'
import { retry } from './retry.ts'

export interface PutOptions extends Precondition {
  /** Whether a resource that does not exist may be made. */
  readonly mayCreate: boolean
  /** Whether a resource that exists may be replaced. */
  readonly mayReplace: boolean
  /** What the caller says of read-only fields. */
  readonly readOnly: Values
}

export interface CreateOptions {
  /** With a key, a repeated request creates once. */
  readonly key?: RequestKey | undefined
  /** An identifier that the caller has sent: ignored, unless a resource has it. */
  readonly otherThan?: string | undefined
}

export interface PatchOptions extends Precondition {
  readonly readOnly: Values
}

/**
 * Creates a resource with an identifier made here (SPEC §4.3); with a key, once only.
 *
 * @throws {DomainError} VALIDATION_FAILED, BUSINESS_RULE_VIOLATION (also for a key that came with another
 *   body), RESOURCE_ALREADY_EXISTS, and RESOURCE_NOT_FOUND or RESOURCE_GONE for the parent
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
  const once = key && new OnceOnly({ client, resource, parentId, key, values, hours })
  return retry(async () => {
    const row = await once?.find()
    if (row) return { outcome: 'CREATED', row }
    return insertResource(context, resource, { parentId, id: makeIdentifier(resource) }, values, {
      once,
      otherThan,
    })
  })
}

/**
 * Creates or replaces the resource at an address (SPEC §4.4, §4.5). Replacing clears what the body
 * leaves out. A body that changes nothing leaves the version alone.
 *
 * @throws {DomainError} as {@link createResource}, and RESOURCE_NOT_FOUND where nothing may be
 *   created, PRECONDITION_FAILED where nothing may be replaced, CONCURRENT_MODIFICATION
 */
export async function putResource(
  context: WriteContext,
  resource: Resource,
  address: Address,
  body: Values,
  options: PutOptions,
): Promise<Written> {
  refuseMalformedParent(resource, address.parentId)
  refuseMalformedIdentifier(address)
  const values = validated(resource, body)
  return retry(async () => {
    const row = await modelOf(context.client, resource).lookUp(resource, address)
    if (row) return replace(context, resource, address, row, values, options)
    if (!options.mayCreate) throw notFound(resource, address, CREATE_ADVICE)
    return insertResource(context, resource, address, values)
  })
}

/**
 * Changes the fields that a merge patch names (SPEC §4.6, RFC 7396). The result is validated as a whole.
 *
 * @throws {DomainError} VALIDATION_FAILED, BUSINESS_RULE_VIOLATION, RESOURCE_ALREADY_EXISTS,
 *   RESOURCE_NOT_FOUND, CONCURRENT_MODIFICATION
 */
export async function patchResource(
  context: WriteContext,
  resource: Resource,
  address: Address,
  patch: Values,
  { readOnly, ...condition }: PatchOptions,
): Promise<Written> {
  const { values: changes, details } = inspectPatch(resource, patch)
  refuseInvalid(details)
  return retry(async () => {
    const row = isAddress(address) ? await modelOf(context.client, resource).lookUp(resource, address) : null
    if (!row) throw notFound(resource, address)
    requireState(row, address, condition)
    const stored = toValues(resource, row)
    refuseReadOnlyChanges(resource, readOnly, stored)
    const values = validated(resource, mergePatch(writableValues(resource, stored), changes) as Values)
    return updateResource(context, resource, address, row, values)
  })
}

const CREATE_ADVICE = 'To create it, send its id in the body or If-None-Match: *, and no If-Match.'

function refuseMalformedIdentifier({ id }: Address): void {
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

/** As they are stored, valid or not: what a patch leaves alone must not get lost. */
function writableValues({ writableFields }: Resource, stored: Values): Values {
  return Object.fromEntries(Object.entries(stored).filter(([name]) => name in writableFields))
}

async function replace(
  context: WriteContext,
  resource: Resource,
  address: Address,
  row: Row,
  values: Values,
  { mayReplace, readOnly, ...condition }: PutOptions,
): Promise<Written> {
  if (!mayReplace) {
    const current = { ...address, version: row.version }
    throw new DomainError('PRECONDITION_FAILED', 'The resource exists, and may only be created.', [], current)
  }
  requireState(row, address, condition)
  refuseReadOnlyChanges(resource, readOnly, toValues(resource, row))
  return updateResource(context, resource, address, row, values)
}
