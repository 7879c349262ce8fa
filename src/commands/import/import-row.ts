import type { WriteContext } from '../../domain/changes.ts'
import { type Detail, DomainError } from '../../domain/model/errors.ts'
import type { Resource, Values } from '../../domain/model/resource.ts'
import { inspectResource } from '../../domain/model/validate.ts'
import { isObject } from '../../domain/model/values.ts'
import { putResource } from '../../domain/write.ts'
import type { InputRow } from './read-records.ts'

/** What became of a row. */
export type RowOutcome =
  | { readonly line: number; readonly outcome: 'imported' | 'present' }
  | { readonly line: number; readonly outcome: 'refused'; readonly error: RowError }

export interface RowError {
  readonly code: string
  readonly message: string
  readonly details: readonly Detail[]
}

export interface ImportRowParts {
  readonly resource: Resource
  /** The identifier for a row that brings none. */
  readonly identify: (line: number) => string
  /** The parent of rows that name none. */
  readonly parent: string | undefined
  /** Whether a row whose resource is there already replaces it. */
  readonly replace: boolean
  /** Where to write to; undefined to look only. */
  readonly context: WriteContext | undefined
}

/**
 * Brings one row in, by the rules that every write follows. A resource that is there already stays as it
 * is, unless it is to be replaced.
 *
 * @throws anything but what is wrong with the row itself
 */
export async function importRow(parts: ImportRowParts, row: InputRow): Promise<RowOutcome> {
  const { line } = row
  try {
    if ('refusal' in row) throw row.refusal
    return { line, outcome: await write(parts, line, row.values) }
  } catch (error) {
    if (!(error instanceof DomainError) || error.code === 'SERVICE_UNAVAILABLE') throw error
    if (error.code === 'PRECONDITION_FAILED') return { line, outcome: 'present' }
    const { code, message, details } = error
    return { line, outcome: 'refused', error: { code, message, details } }
  }
}

async function write(parts: ImportRowParts, line: number, body: unknown): Promise<'imported' | 'present'> {
  const { resource, context, replace } = parts
  const values = isObject(body) ? body : {}
  const { details } = inspectResource(resource, body)
  if (details.length > 0) {
    throw new DomainError('VALIDATION_FAILED', details.map(({ message }) => message).join(' '), details)
  }
  const address = addressOf(parts, line, values)
  if (!context) return 'imported'
  const options = { mayCreate: true, mayReplace: replace, readOnly: {} }
  const { outcome } = await putResource(context, resource, address, values, options)
  return outcome === 'UNCHANGED' ? 'present' : 'imported'
}

function addressOf({ resource, identify, parent }: ImportRowParts, line: number, values: Values) {
  const parentId = resource.parentField && (textAt(values, resource.parentField) ?? parent)
  if (resource.parentField && parentId === undefined) {
    const field = resource.parentField
    const message = `${field} is required here, or --parent.`
    throw new DomainError('VALIDATION_FAILED', message, [{ field, code: 'REQUIRED_FIELD', message }])
  }
  if (resource.kind === 'singleton') return { parentId, id: parentId as string }
  return { parentId, id: textAt(values, 'id') ?? identify(line) }
}

function textAt(values: Values, name: string): string | undefined {
  const value = values[name]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  const message = `${name} must be a string.`
  throw new DomainError('VALIDATION_FAILED', message, [{ field: name, code: 'INVALID_TYPE', message }])
}
