import { type Client, type DatabaseClient, modelOf } from '../database/client.ts'
import { toPrisma } from '../database/prisma-values.ts'
import { keyOf } from '../database/sql/statement.ts'
import type { WriteContext } from './context.ts'
import type { OnceOnly } from './idempotency.ts'
import type { Change } from './model/database-rule.ts'
import { DomainError } from './model/errors.ts'
import type { Address } from './model/identifiers.ts'
import type { Resource, Values } from './model/resource.ts'
import type { Row } from './model/row.ts'
import { initialColumns, isUnchanged, toColumns } from './model/rows.ts'
import { missingParent } from './not-found.ts'
import { writeError } from './refusals.ts'
import { ParentMissing, WriteConflict } from './retry.ts'
import { refuseBrokenRules } from './rules.ts'
import { inTransaction } from './transaction.ts'
import { refuseTakenIdentifier, refuseTakenValues } from './unique.ts'

/** What a write did, decided where it was done, so that it is right when requests race. */
export interface Written {
  readonly outcome: 'CREATED' | 'REPLACED' | 'UNCHANGED'
  readonly row: Row
}

/**
 * Changes a resource to these values, in a transaction where its rules need one.
 *
 * @throws {DomainError} what its rules refuse
 * @throws {WriteConflict} when another request was faster
 */
export async function updateResource(
  context: WriteContext,
  resource: Resource,
  address: Address,
  before: Row,
  values: Values,
): Promise<Written> {
  return writing(context, resource, address, before, async (client, isInTransaction) => {
    const after = toColumns(resource, values, before)
    const change = { client, isInTransaction, settings: context.ruleSettings, address, before, after }
    await refuseBrokenRules(change, resource)
    if (isUnchanged(before, after)) return { outcome: 'UNCHANGED', row: before }
    await refuseTakenValues(change, resource)
    return { outcome: 'REPLACED', row: await updateRow(change, resource, before.version) }
  })
}

/** Adds a resource with these values, once only if so asked, and only if another identifier is free; otherwise as {@link updateResource}. */
export async function insertResource(
  context: WriteContext,
  resource: Resource,
  address: Address,
  values: Values,
  { once, otherThan }: { once?: OnceOnly | undefined; otherThan?: string | undefined } = {},
): Promise<Written> {
  const write: Write = async (client, isInTransaction) => {
    await once?.claim(client)
    const after = { ...initialColumns(resource), ...toColumns(resource, values) }
    const settings = context.ruleSettings
    const change = { client, isInTransaction, settings, address, before: undefined, after }
    await refuseBrokenRules(change, resource)
    if (otherThan !== undefined) await refuseTakenIdentifier(client, resource, { ...address, id: otherThan })
    const row = await modelOf(client, resource).insert(resource, address, after)
    await once?.keep(client, row)
    return { outcome: 'CREATED', row }
  }
  return writing(context, resource, address, undefined, write, once !== undefined)
}

type Write = (client: Client, isInTransaction: boolean) => Promise<Written>

async function writing(
  { client }: WriteContext,
  resource: Resource,
  address: Address,
  before: Row | undefined,
  write: Write,
  isOnceOnly = false,
): Promise<Written> {
  try {
    return await inTransaction(client, resource, isOnceOnly, write)
  } catch (error) {
    const meaning = writeError(error, resource)
    if (meaning instanceof DomainError && (await hasMoved(client, resource, address, before))) {
      throw new WriteConflict()
    }
    if (!(meaning instanceof DomainError) && !(meaning instanceof ParentMissing)) throw meaning
    const missing = await missingParent(client, resource, address)
    throw missing ?? (meaning instanceof ParentMissing ? new WriteConflict() : meaning)
  }
}

/**
 * Changes a row if it still is the version that was read: one statement decides.
 *
 * @throws {WriteConflict} when it is not
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

/** Whether another request has written it since: then what a rule refused may be that request's own doing. */
async function hasMoved(
  client: DatabaseClient,
  resource: Resource,
  address: Address,
  before: Row | undefined,
): Promise<boolean> {
  const row = await modelOf(client, resource).lookUp(resource, address)
  return row?.version !== before?.version
}
