import { type Client, type DatabaseClient, modelOf } from '../database/client.ts'
import { toPrisma } from '../database/prisma-values.ts'
import { keyOf } from '../database/sql/statement.ts'
import type { WriteContext } from './context.ts'
import type { IdempotencyRecord } from './idempotency.ts'
import type { Change } from './model/database-rule.ts'
import { DomainError } from './model/errors.ts'
import type { Address } from './model/identifiers.ts'
import type { Resource, Values } from './model/resource.ts'
import type { Row } from './model/row.ts'
import { initialColumns, isUnchanged, toColumns } from './model/rows.ts'
import { parentNotFoundOrGone } from './not-found.ts'
import { writeError } from './refusals.ts'
import { ParentNotFound, WriteConflict } from './retry.ts'
import { refuseBrokenRules } from './rules.ts'
import { inTransaction } from './transaction.ts'
import { refuseTakenValues } from './unique.ts'

/** The outcome of a write. It is decided with the write itself, so concurrent requests cannot make it wrong. */
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
  address: Address,
  before: Row,
  values: Values,
): Promise<Written> {
  return runWrite(context, resource, address, before, async (client, isInTransaction) => {
    const after = toColumns(resource, values, before)
    const change = { client, isInTransaction, settings: context.ruleSettings, address, before, after }
    await refuseBrokenRules(change, resource)
    if (isUnchanged(before, after)) return { outcome: 'UNCHANGED', row: before }
    await refuseTakenValues(change, resource)
    return { outcome: 'REPLACED', row: await updateRow(change, resource, before.version) }
  })
}

/** Adds a resource with these values, only once if it has an idempotency record; see {@link updateResource}. */
export async function insertResource(
  context: WriteContext,
  resource: Resource,
  address: Address,
  values: Values,
  record?: IdempotencyRecord,
): Promise<Written> {
  const write: Write = async (client, isInTransaction) => {
    await record?.claim(client)
    const after = { ...initialColumns(resource), ...toColumns(resource, values) }
    const settings = context.ruleSettings
    const change = { client, isInTransaction, settings, address, before: undefined, after }
    await refuseBrokenRules(change, resource)
    const row = await modelOf(client, resource).insert(resource, address, after)
    await record?.store(client, row)
    return { outcome: 'CREATED', row }
  }
  return runWrite(context, resource, address, undefined, write, record !== undefined)
}

type Write = (client: Client, isInTransaction: boolean) => Promise<Written>

async function runWrite(
  { client }: WriteContext,
  resource: Resource,
  address: Address,
  before: Row | undefined,
  write: Write,
  hasIdempotencyKey = false,
): Promise<Written> {
  try {
    return await inTransaction(client, resource, hasIdempotencyKey, write)
  } catch (error) {
    const mapped = writeError(error, resource)
    if (mapped instanceof DomainError && (await hasChanged(client, resource, address, before))) {
      throw new WriteConflict()
    }
    if (!(mapped instanceof DomainError) && !(mapped instanceof ParentNotFound)) throw mapped
    const parentError = await parentNotFoundOrGone(client, resource, address)
    throw parentError ?? (mapped instanceof ParentNotFound ? new WriteConflict() : mapped)
  }
}

/**
 * Changes a row if it still has the version that was read.
 *
 * @throws {WriteConflict} if it has another version
 */
async function updateRow(
  { client, address, after = {} }: Change & { readonly client: Client },
  resource: Resource,
  version: number,
): Promise<Row> {
  const where = { ...keyOf(resource, address), version }
  const data = toPrisma(resource, after)
  const [row] = await modelOf(client, resource).updateManyAndReturn({ where, data })
  if (!row) throw new WriteConflict()
  return row
}

/** Whether another request has changed the resource since the read. Then it may have caused the violation. */
async function hasChanged(
  client: DatabaseClient,
  resource: Resource,
  address: Address,
  before: Row | undefined,
): Promise<boolean> {
  const row = await modelOf(client, resource).lookUp(resource, address)
  return row?.version !== before?.version
}
