import type { LeafField } from '../../domain/fields.ts'
import type { Resource, Values } from '../../domain/resource.ts'
import { ArgumentsError } from '../arguments.ts'

/** @throws {ArgumentsError} naming the columns that are not fields of the resource */
export function refuseUnknownColumns(resource: Resource, header: readonly string[]): void {
  const known = resource.leaves.filter(({ field }) => !field.hidden).map(({ name }) => name)
  const unknown = header.filter((column) => !known.includes(column))
  if (unknown.length === 0) return
  throw new ArgumentsError(
    `The header has columns that ${resource.path} has not: ${unknown.join(', ')}. There are ${known.join(', ')}.`,
  )
}

/**
 * The values of a row of a CSV file. Its columns are named as filters name fields,
 * `temperature_range.min_celsius`; an empty cell is a field that is not set. A cell is read as the type of
 * its field; one that is not of that type stays text, which the validation then refuses.
 */
export function cellsToValues(
  resource: Resource,
  header: readonly string[],
  cells: readonly string[],
): Values {
  const values: Record<string, unknown> = {}
  for (const [index, column] of header.entries()) {
    const leaf = resource.leaves.find(({ name }) => name === column)
    const cell = cells[index] ?? ''
    if (!leaf || cell === '') continue
    const [outer, inner] = leaf.path as [string, string?]
    const value = cellValue(leaf.field, cell)
    if (inner === undefined) values[outer] = value
    else values[outer] = { ...(values[outer] as object | undefined), [inner]: value }
  }
  return values
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
      return parsed(cell)
    default:
      return cell
  }
}

function parsed(cell: string): unknown {
  try {
    return JSON.parse(cell)
  } catch {
    return cell
  }
}
