import type { DatabaseClient } from '../database/client.ts'
import { lookUpRow } from '../database/sql/row-lookup.ts'
import { meaningOfWriteError } from './database-errors.ts'
import type { PlanetReference } from './guard.ts'
import { OnceOnly, type RequestKey } from './idempotency.ts'
import { DomainError, refuseInvalid } from './model/errors.ts'
import { IDENTIFIER_FORM, isAddress, isIdentifier, makeIdentifier } from './model/identifiers.ts'
import { mergePatch } from './model/merge-patch.ts'
import { requireVersion } from './model/precondition.ts'
import { refuseReadOnlyChanges } from './model/read-only.ts'
import type { Resource, Values } from './model/resource.ts'
import { initialColumns, isUnchanged, type Row, toColumns, toValues } from './model/rows.ts'
import { inspectPatch, inspectResource } from './model/validate.ts'
import { absenceOfParent, notFound } from './not-found.ts'
import { ParentMissing, RaceLost } from './retry.ts'
import { refuseBrokenRules } from './rules.ts'
import { type Address, type Client, insertRow, updateRow } from './store.ts'
import { attempt, inTransaction } from './transaction.ts'
import { refuseTakenValues } from './unique.ts'

/** Where writes happen, and the settings they follow. */
export interface WriteContext {
  readonly client: DatabaseClient
  readonly planetReference: PlanetReference
  /** How long a key of a request is remembered. */
  readonly idempotencyKeyHours: number
}

/** What a write did, decided where it was done, so that it is right when requests race. */
export interface Written {
  readonly outcome: 'CREATED' | 'REPLACED' | 'UNCHANGED'
  readonly row: Row
}

export interface PutOptions {
  /** Whether a resource that does not exist may be made. */
  readonly mayCreate: boolean
  /** Whether a resource that exists may be replaced. */
  readonly mayReplace: boolean
  readonly versions?: readonly number[] | undefined
  /** What the caller says of read-only fields. */
  readonly readOnly: Values
}

export interface PatchOptions {
  readonly versions?: readonly number[] | undefined
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
  key?: RequestKey,
): Promise<Written> {
  refuseMalformedParent(resource, parentId)
  const values = validated(resource, body)
  const { client, idempotencyKeyHours: hours } = context
  const once = key && new OnceOnly({ client, resource, parentId, key, values, hours })
  return attempt(async () => {
    const row = await once?.find()
    if (row) return { outcome: 'CREATED', row }
    return insert(context, resource, { parentId, id: makeIdentifier(resource) }, values, once)
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
  return attempt(async () => {
    const row = await lookUpRow(context.client, resource, address)
    if (row) return replace(context, resource, address, row, values, options)
    if (!options.mayCreate) throw notFound(resource, address, CREATE_ADVICE)
    return insert(context, resource, address, values)
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
  { versions, readOnly }: PatchOptions,
): Promise<Written> {
  const { values: changes, details } = inspectPatch(resource, patch)
  refuseInvalid(details)
  return attempt(async () => {
    const row = isAddress(address) ? await lookUpRow(context.client, resource, address) : null
    if (!row) throw notFound(resource, address)
    requireVersion(row, address, versions)
    const stored = toValues(resource, row)
    refuseReadOnlyChanges(resource, readOnly, stored)
    const values = validated(resource, mergePatch(writableValues(resource, stored), changes) as Values)
    return update(context, resource, address, row, values)
  })
}

const CREATE_ADVICE = 'To create it, send its id in the body as well, without If-Match.'

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
  { mayReplace, versions, readOnly }: PutOptions,
): Promise<Written> {
  if (!mayReplace) {
    const current = { ...address, version: row.version }
    throw new DomainError('PRECONDITION_FAILED', 'The resource exists, and may only be created.', [], current)
  }
  requireVersion(row, address, versions)
  refuseReadOnlyChanges(resource, readOnly, toValues(resource, row))
  return update(context, resource, address, row, values)
}

async function update(
  context: WriteContext,
  resource: Resource,
  address: Address,
  before: Row,
  values: Values,
): Promise<Written> {
  return writing(context, resource, address, before, async (client) => {
    const after = toColumns(resource, values, before)
    const change = { ...context, client, address, before, after }
    await refuseBrokenRules(change, resource)
    if (isUnchanged(before, after)) return { outcome: 'UNCHANGED', row: before }
    await refuseTakenValues(change, resource)
    return { outcome: 'REPLACED', row: await updateRow(client, resource, address, before.version, after) }
  })
}

async function insert(
  context: WriteContext,
  resource: Resource,
  address: Address,
  values: Values,
  once?: OnceOnly,
): Promise<Written> {
  const write = async (client: Client): Promise<Written> => {
    await once?.claim(client)
    const after = { ...initialColumns(resource), ...toColumns(resource, values) }
    await refuseBrokenRules({ ...context, client, address, before: undefined, after }, resource)
    const row = await insertRow(client, resource, address, after)
    await once?.keep(client, row)
    return { outcome: 'CREATED', row }
  }
  return writing(context, resource, address, undefined, write, once !== undefined)
}

async function writing(
  { client }: WriteContext,
  resource: Resource,
  address: Address,
  before: Row | undefined,
  write: (client: Client) => Promise<Written>,
  isOnceOnly = false,
): Promise<Written> {
  try {
    return await inTransaction(client, resource, isOnceOnly, write)
  } catch (error) {
    const meaning = meaningOfWriteError(error, resource)
    if (meaning instanceof DomainError && (await hasMoved(client, resource, address, before))) {
      throw new RaceLost()
    }
    if (!(meaning instanceof DomainError) && !(meaning instanceof ParentMissing)) throw meaning
    const absence = await absenceOfParent(client, resource, address)
    throw absence ?? (meaning instanceof ParentMissing ? new RaceLost() : meaning)
  }
}

/** Whether another request has written it since: then what a rule refused may be that request's own doing. */
async function hasMoved(
  client: DatabaseClient,
  resource: Resource,
  address: Address,
  before: Row | undefined,
): Promise<boolean> {
  const row = await lookUpRow(client, resource, address)
  return row?.version !== before?.version
}
