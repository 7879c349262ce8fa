import { createHash } from 'node:crypto'
import { v4, v7 } from 'uuid'
import type { WriteContext } from '../../domain/context.ts'
import { putResource } from '../../domain/write.ts'
import { DomainError, errorAt } from '../../model/errors.ts'
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

/**
 * Imports one row with the rules of every write.
 *
 * @throws errors that the row does not cause, such as a lost connection
 */
export async function importRow(target: ImportTarget, seed: Seed, row: InputRow): Promise<RowOutcome> {
  const { line } = row
  try {
    if ('refusal' in row) throw row.refusal
    return { outcome: await write(target, seed, line, row.values) }
  } catch (error) {
    if (!(error instanceof DomainError) || error.code === 'SERVICE_UNAVAILABLE') throw error
    if (error.code === 'PRECONDITION_FAILED') return { outcome: 'skipped' }
    const { code, message, details } = error
    return { outcome: 'refused', error: { line, code, message, details } }
  }
}

async function write(target: ImportTarget, seed: Seed, line: number, body: unknown) {
  const { resource, context, replace } = target
  const values = isObject(body) ? body : {}
  const { details } = inspectResource(resource, body)
  if (details.length > 0) {
    throw new DomainError('VALIDATION_FAILED', details.map(({ message }) => message).join(' '), details)
  }
  const key = addressOf(target, seed, line, values)
  if (!context) return 'imported'
  const options = { mayCreate: true, mayReplace: replace, readOnly: {} }
  const { outcome } = await putResource(context, resource, key, values, options)
  return outcome === 'UNCHANGED' ? 'skipped' : 'imported'
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
