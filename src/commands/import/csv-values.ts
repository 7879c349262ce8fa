import { DomainError } from '../../domain/model/errors.ts'
import type { LeafField } from '../../domain/model/fields.ts'
import type { Resource, Values } from '../../domain/model/resource.ts'
import { parseStrictJson } from '../../http/json/strict-json.ts'
import { ArgumentsError } from '../arguments.ts'

/** The text of a cell; undefined for one that is empty and not in quotes. */
export type Cell = string | undefined

/** @throws {ArgumentsError} naming the columns that are not fields of the resource, or that occur twice */
export function refuseHeader(resource: Resource, header: readonly string[]): void {
  const known = resource.shownLeaves.map(({ name }) => name)
  const unknown = header.filter((column) => !known.includes(column))
  if (unknown.length > 0) {
    throw new ArgumentsError(
      `The header has columns that ${resource.path} has not: ${unknown.join(', ')}. There are ${known.join(', ')}.`,
    )
  }
  const repeated = header.filter((column, index) => header.indexOf(column) !== index)
  if (repeated.length > 0) throw new ArgumentsError(`The header names columns twice: ${repeated.join(', ')}.`)
}

/**
 * The values of a row of a CSV file. Its columns are named as filters name fields,
 * `temperature_range.min_celsius`; an empty cell is a field that is not set. A cell is read as the type of
 * its field; one that is not of that type stays text, which the validation then refuses.
 *
 * @throws {DomainError} VALIDATION_FAILED for another number of cells than columns, MALFORMED_JSON
 */
export function cellsToValues(resource: Resource, header: readonly string[], cells: readonly Cell[]): Values {
  if (cells.length !== header.length) {
    const message = `The row has ${cells.length} cells and the header ${header.length}.`
    throw new DomainError('VALIDATION_FAILED', message)
  }
  const values: Record<string, unknown> = {}
  for (const [index, column] of header.entries()) {
    const leaf = resource.leaves.find(({ name }) => name === column)
    const cell = cells[index]
    if (!leaf || cell === undefined || (cell === '' && !isFreeText(leaf.field))) continue
    const [outer, inner] = leaf.path as [string, string?]
    const value = cellValue(leaf.field, cell)
    if (inner === undefined) values[outer] = value
    else values[outer] = { ...(values[outer] as object | undefined), [inner]: value }
  }
  return values
}

/** Only there the empty string is a value. Programs that put every cell in quotes mean nothing by it elsewhere. */
function isFreeText({ type, readOnly }: LeafField): boolean {
  return type === 'text' && !readOnly
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

function cellValue({ type }: LeafField, cell: string): unknown {
  switch (type) {
    case 'number':
    case 'integer':
      return NUMBER.test(cell) ? Number(cell) : cell
    case 'boolean':
      return cell === 'true' ? true : cell === 'false' ? false : cell
    case 'fractions':
      return parseStrictJson(Buffer.from(cell), 'The cell')
    default:
      return cell
  }
}
