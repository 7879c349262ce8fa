import { createHash } from 'node:crypto'
import { v4, v7 } from 'uuid'
import type { WriteContext } from '../../domain/context.ts'
import { createTogether } from '../../domain/create-together.ts'
import { inOneTransaction } from '../../domain/transaction.ts'
import { putResource } from '../../domain/write.ts'
import { DomainError, errorAt } from '../../model/errors.ts'
import type { ResourceKey } from '../../model/identifiers.ts'
import type { Resource, Values } from '../../model/resource.ts'
import { inspectResource } from '../../model/validate.ts'
import { isObject } from '../../model/values.ts'
import type { ImportState } from './import-state.ts'
import type { InputRow } from './read-records.ts'

export interface RowOutcome {
  readonly outcome: 'imported' | 'skipped' | 'refused'
  /** Why the row was refused, as in the error file. */
  readonly error?: object
}

export interface ImportTarget {
  readonly resource: Resource
  readonly parent: string | undefined
  readonly replace: boolean
  /** Where to write; undefined to validate only. */
  readonly context: WriteContext | undefined
}

type Seed = Pick<ImportState, 'key' | 'started'>

/** A row that is valid by itself, and not written yet. */
interface ValidRow extends ResourceKey {
  readonly line: number
  readonly body: Values
}

type CheckedRow = ValidRow | RowOutcome

/**
 * Creates the resources of rows in one transaction, which takes a fifth of the time. Leaves those that exist to
 * {@link importRow}, and all if the database or a rule refuses one.
 *
 * @throws errors that the rows do not cause, such as a lost connection
 */
export async function createRows(target: ImportTarget, seed: Seed, rows: readonly InputRow[]) {
  const { context, resource } = target
  const checked = rows.map((row) => check(target, seed, row))
  const valid = checked.filter((row) => 'body' in row)
  if (!context || valid.length === 0) return checked
  const written = await inOneTransaction(context, { hasSavepoints: false }, async (client, transaction) => {
    const inside = { ...context, client, transaction }
    return { result: await createTogether(inside, resource, valid), isKept: true }
  })
  const created = new Set<CheckedRow>(valid.filter((_, index) => written[index]))
  return checked.map((row): CheckedRow => (created.has(row) ? { outcome: 'imported' } : row))
}

/** Imports a row by itself, with the rules of every write; throws as {@link createRows}. */
export async function importRow(target: ImportTarget, row: CheckedRow): Promise<RowOutcome> {
  const { context, resource, replace } = target
  if ('outcome' in row) return row
  if (!context) return { outcome: 'imported' }
  try {
    const options = { mayCreate: true, mayReplace: replace, readOnly: {} }
    const { outcome } = await putResource(context, resource, row, row.body, options)
    return { outcome: outcome === 'UNCHANGED' ? 'skipped' : 'imported' }
  } catch (error) {
    return refusal(row.line, error)
  }
}

function check(target: ImportTarget, seed: Seed, row: InputRow): CheckedRow {
  const { line } = row
  try {
    if ('refusal' in row) throw row.refusal
    const body = isObject(row.values) ? row.values : {}
    const { details } = inspectResource(target.resource, row.values)
    if (details.length > 0) {
      throw new DomainError('VALIDATION_FAILED', details.map(({ message }) => message).join(' '), details)
    }
    return { line, body, ...addressOf(target, seed, line, body) }
  } catch (error) {
    return refusal(line, error)
  }
}

function refusal(line: number, error: unknown): RowOutcome {
  if (!(error instanceof DomainError) || error.code === 'SERVICE_UNAVAILABLE') throw error
  if (error.code === 'PRECONDITION_FAILED') return { outcome: 'skipped' }
  const { code, message, details } = error
  return { outcome: 'refused', error: { line, code, message, details } }
}

function addressOf({ resource, parent }: ImportTarget, seed: Seed, line: number, values: Values) {
  const parentId = resource.parentField && (textAt(values, resource.parentField) ?? parent)
  if (resource.parentField && parentId === undefined) {
    const message = `${resource.parentField} or the option --parent is required.`
    throw errorAt(resource.parentField, 'REQUIRED_FIELD', 'VALIDATION_FAILED', message)
  }
  if (resource.kind === 'singleton') return { parentId, id: parentId as string }
  return { parentId, id: textAt(values, 'id') ?? identifierOf(resource, seed, line) }
}

/**
 * The identifier of a row without one. It depends only on the import and the line, so a row that is imported again after
 * an interruption does not become a second resource. The random key keeps it unpredictable.
 */
function identifierOf(resource: Resource, { key, started }: Seed, line: number): string {
  const random = createHash('sha256').update(`${key}:${line}`).digest().subarray(0, 16)
  return resource.randomIdentifiers ? v4({ random }) : v7({ msecs: started, seq: line, random })
}

function textAt(values: Values, name: string): string | undefined {
  const value = values[name]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  throw errorAt(name, 'INVALID_TYPE', 'VALIDATION_FAILED', `${name} must be a string.`)
}
