import { prismaError, refusalOf } from '../database/errors.ts'
import { type Resource, tableName } from '../model/definition/resource.ts'
import { DomainError, errorAt, isUnavailable } from '../model/errors.ts'
import { keyColumns, keyText, type ResourceKey } from '../model/rows/identifiers.ts'
import type { Columns } from '../model/rows/row.ts'
import type { WriteContext } from './context.ts'
import { storedKeys } from './create-together.ts'
import { writeError } from './database-errors.ts'
import { endsTransaction, inOneTransaction, ParentNotFound, TransactionEnded } from './transaction.ts'

/** A row as it was recorded elsewhere, with all columns that the database does not compute. */
export interface RecordedRow {
  readonly key: ResourceKey
  readonly columns: Columns
}

/** What became of a row. An error says why the database refused the row. */
export type RecordedOutcome = 'imported' | 'skipped' | DomainError

/**
 * Creates rows with their times, states and authors in one transaction. The constraints of the database hold, the rules of
 * writes do not. Rows whose key is taken are skipped.
 */
export function createRecorded(
  context: WriteContext,
  resource: Resource,
  rows: readonly RecordedRow[],
): Promise<RecordedOutcome[]> {
  return inOneTransaction(context, { hasSavepoints: false }, async (client, { hasSavepoints }) => {
    const named = rows.map(({ key }) => key)
    const keys = named.map(keyText)
    const taken = await storedKeys({ client }, resource, named)
    const isNew = keys.map((key, index) => !taken.has(key) && keys.indexOf(key) === index)
    const create = (parts: readonly RecordedRow[], inside = client) =>
      inside.createAll(
        resource,
        parts.map(({ key, columns }) => ({ ...columns, ...keyColumns(resource, key) })),
      )
    const result: RecordedOutcome[] = isNew.map((one) => (one ? 'imported' : 'skipped'))
    const added = rows.filter((_, index) => isNew[index])
    try {
      if (!hasSavepoints && added.length > 0) await create(added)
    } catch (error) {
      if (isUnavailable(prismaError(error))) throw error
      // The next attempt finds out which row is refused.
      throw new TransactionEnded()
    }
    if (hasSavepoints)
      for (const [index, row] of rows.entries()) {
        if (!isNew[index]) continue
        try {
          await client.transaction((inside) => create([row], inside))
        } catch (error) {
          result[index] = refusalOfRow(error, resource)
        }
      }
    return { result, isKept: true }
  })
}

/** Throws what the row does not cause. */
function refusalOfRow(error: unknown, resource: Resource): DomainError {
  if (endsTransaction(error) || isUnavailable(prismaError(error))) throw error
  const { state, constraint } = refusalOf(error)
  const mapped = writeError(error, resource)
  const table = tableName(resource.path)
  const leaf = resource.leaves.find(({ column }) => constraint === `${table}_${column}_fkey`)
  if (leaf?.field.type === 'reference') {
    const message = `${leaf.name} names no resource.`
    return errorAt(leaf.name, 'UNKNOWN_REFERENCE', 'BUSINESS_RULE_VIOLATION', message)
  }
  if (mapped instanceof ParentNotFound)
    return new DomainError('RESOURCE_NOT_FOUND', 'There is no parent with this identifier.')
  if (state === '') throw error
  const isNamed = mapped instanceof DomainError && mapped.code !== 'DEPENDENCY_CONFLICT'
  const reason = constraint === '' ? `with the state ${state}` : `by its constraint ${constraint}`
  return isNamed ? mapped : new DomainError('BUSINESS_RULE_VIOLATION', `The database refuses it ${reason}.`)
}
