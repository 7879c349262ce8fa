import type { DatabaseClient } from '../database/database-client.ts'
import { requireAccess } from '../database/referred.ts'
import { unrestricted } from '../model/access/access.ts'
import { TransactionNeeded } from '../model/definition/database-rule.ts'
import type { Resource, Values } from '../model/definition/resource.ts'
import { DomainError } from '../model/errors.ts'
import { changedColumns, newColumns, toColumns } from '../model/rows/columns.ts'
import { keyColumns, type ResourceKey } from '../model/rows/identifiers.ts'
import { type Precondition, requireState } from '../model/rows/precondition.ts'
import type { Columns, Row } from '../model/rows/row.ts'
import type { DataChange, WriteContext } from './context.ts'
import { deletionError, refuseToGoOn, writeError } from './database-errors.ts'
import { refuseBrokenDeletions, ruledDependents } from './dependents.ts'
import type { IdempotencyRecord } from './idempotency.ts'
import { notFoundOrGone, parentNotFoundOrGone } from './read.ts'
import { refuseBrokenRules, refuseTakenIdentifier, refuseTakenValues } from './rules.ts'
import { forgetDeleted, ParentNotFound, transact, WriteConflict } from './transaction.ts'

const ALL_ROWS = unrestricted(
  'whether another request has changed the row does not depend on who may read it',
)

/** The outcome is decided by the write itself, so concurrent requests cannot make it wrong. */
export interface Written {
  readonly outcome: 'CREATED' | 'REPLACED' | 'UNCHANGED'
  readonly row: Row
}

/**
 * Changes a resource to these values, in a transaction if its rules need one.
 *
 * @throws {DomainError} for a violated rule
 * @throws {WriteConflict} if another request has changed it
 */
export async function updateResource(
  context: WriteContext,
  resource: Resource,
  key: ResourceKey,
  before: Row,
  values: Values,
): Promise<Written> {
  const { access } = context
  const isDecidedLate = access.needsStored('change', resource)
  const target = { key, before, after: toColumns(resource, values, before), isDecidedLate }
  return runWrite(context, resource, target, async (change, after) => {
    if (!isDecidedLate)
      await requireAccess(change.client, access, 'change', resource, { ...before, ...after })
    await refuseBrokenRules(change, resource, context.resources)
    const changed = changedColumns(before, after)
    if (Object.keys(changed).length === 0) return { outcome: 'UNCHANGED', row: before }
    await refuseTakenValues(change, resource)
    const where = { ...keyColumns(resource, key), version: before.version }
    const [row] = await change.client.updateManyAndReturn(resource, where, authored(context, changed))
    if (!row) throw new WriteConflict()
    if (isDecidedLate) await requireAccess(change.client, access, 'change', resource, row)
    return { outcome: 'REPLACED', row }
  })
}

/** Adds a resource; see {@link updateResource}. With `otherThan`, only if no resource has that identifier. */
export async function insertResource(
  context: WriteContext,
  resource: Resource,
  key: ResourceKey,
  values: Values,
  { record, otherThan }: { record?: IdempotencyRecord | undefined; otherThan?: string | undefined } = {},
): Promise<Written> {
  const { access, caller } = context
  const isDecidedLate = access.needsStored('create', resource)
  const target = { key, before: undefined, after: newColumns(resource, values, caller), isDecidedLate }
  const write: Write = async (change, after) => {
    await record?.claim(change.client)
    if (!isDecidedLate)
      await requireAccess(change.client, access, 'create', resource, {
        ...after,
        ...keyColumns(resource, key),
      })
    await refuseBrokenRules(change, resource, context.resources)
    if (otherThan !== undefined) await refuseTakenIdentifier(change, resource, otherThan)
    const columns = { ...after, ...keyColumns(resource, key) }
    const isUnseen = await wasUnseen(context, change, resource)
    if (isUnseen) await forgetDeleted(change.client, true)
    const [row] = (await change.client.createAll(resource, [authored(context, columns)])) as [Row]
    if (isUnseen) await forgetDeleted(change.client, false)
    if (isDecidedLate) await requireAccess(change.client, access, 'create', resource, row)
    await record?.store(change.client, row)
    return { outcome: 'CREATED', row }
  }
  return runWrite(context, resource, target, write, record !== undefined)
}

/** Whether a dry run must not tell, by the version, that there was such a row, which its caller could not read. */
async function wasUnseen(
  { access, transaction }: WriteContext,
  { client, key }: DataChange,
  resource: Resource,
) {
  if (!transaction?.isDryRun || !access.readable(resource)) return false
  return (await notFoundOrGone(client, resource, key, access)).code === 'RESOURCE_NOT_FOUND'
}

/** Deletes a resource and the resources it owns; see {@link updateResource}. */
export async function removeResource(
  context: WriteContext,
  resource: Resource,
  key: ResourceKey,
  condition: Precondition,
): Promise<'DELETED' | 'ABSENT'> {
  const { access } = context
  const { versions, unmodifiedSince, unlessVersions } = condition
  const isConditional = versions || unmodifiedSince || unlessVersions || resource.databaseRule
  const before =
    isConditional || access.isLimited(resource)
      ? await context.client.findByKey(resource, key, access)
      : undefined
  if (before === null) return 'ABSENT'
  if (before) {
    await requireAccess(context.client, access, 'delete', resource, before)
    requireState(before, key, condition)
  }
  const hasDependents = ruledDependents(resource, context.resources).length > 0
  const remove = async (change: DataChange) => {
    await resource.databaseRule?.(change)
    if (hasDependents) await refuseBrokenDeletions(change, resource, context.resources)
    const isCompared = before && !hasDependents
    const where = { ...keyColumns(resource, key), ...(isCompared && { version: before.version }) }
    const count = await change.client.delete(resource, where, context.caller.identity)
    if (count === 0 && before) throw new WriteConflict()
    return count === 0 ? 'ABSENT' : 'DELETED'
  }
  try {
    return await inTransaction(context, resource, { key, before, after: undefined }, remove, hasDependents)
  } catch (error) {
    refuseToGoOn(context, error)
    throw deletionError(error, context.resources)
  }
}

/** Adds the author. */
export function authored({ caller }: WriteContext, columns: Columns): Columns {
  return { ...columns, changed_by: caller.identity }
}

interface Target extends Pick<DataChange, 'key' | 'before' | 'after'> {
  /** Whether access is decided on the stored row, so that the write may have to be undone. */
  readonly isDecidedLate?: boolean
}

/** Writes `after`, in which rules may have set columns. */
type Write = (change: DataChange, after: Columns) => Promise<Written>

async function runWrite(
  context: WriteContext,
  resource: Resource,
  target: Target,
  write: Write,
  hasIdempotencyKey = false,
): Promise<Written> {
  const { access, client, caller } = context
  const { key, before } = target
  try {
    const run = (change: DataChange) => write(change, change.after as Columns)
    return await inTransaction(context, resource, target, run, hasIdempotencyKey)
  } catch (error) {
    refuseToGoOn(context, error)
    const mapped = writeError(error, resource)
    const isRefusal = mapped instanceof ParentNotFound || mapped instanceof DomainError
    // The database may have executed the write before the connection was lost, so it is not repeated.
    if (!isRefusal || ('code' in mapped && mapped.code === 'SERVICE_UNAVAILABLE')) throw mapped
    // Another request that has changed the resource since the read may have caused the violation.
    const current = await client.findByKey(resource, key, ALL_ROWS)
    if (current?.version !== before?.version) throw new WriteConflict()
    const parentError = await parentNotFoundOrGone(client, resource, key, access)
    if (parentError) throw parentError
    if (mapped instanceof ParentNotFound) throw new WriteConflict()
    if (mapped.code === 'RESOURCE_ALREADY_EXISTS')
      await refuseTakenValues({ ...target, access, client, caller }, resource)
    throw mapped
  }
}

/**
 * Runs a write in a transaction if it may be undone, or has several statements, because of a database rule, or as the caller knows. A rule
 * that reads first needs none if it then writes nothing. Rules may set columns, so each attempt copies `after`.
 *
 * @throws {DomainError} SERVICE_UNAVAILABLE (503) if the transaction cannot begin in time, or takes too long
 */
async function inTransaction<Result>(
  context: WriteContext,
  { databaseRule }: Resource,
  { key, before, after, isDecidedLate = false }: Target,
  write: (change: DataChange) => Promise<Result>,
  hasSeveralStatements = false,
): Promise<Result> {
  const { access, client, caller, ruleSettings: settings, transaction } = context
  const writeOn = (client: DatabaseClient) =>
    write({
      client,
      isInTransaction: client.isInTransaction,
      access,
      caller,
      settings,
      key,
      before,
      after: after && { ...after },
    })
  const writeInside = () => transact(context, (inside) => writeOn(inside))
  // In a transaction, this makes a savepoint.
  if (transaction) return transaction.hasSavepoints || isDecidedLate ? writeInside() : writeOn(client)
  if (hasSeveralStatements || isDecidedLate) return writeInside()
  if (!databaseRule) return writeOn(client)
  try {
    if (databaseRule.readsFirst) return await writeOn(client)
  } catch (error) {
    if (!(error instanceof TransactionNeeded)) throw error
  }
  return writeInside()
}
