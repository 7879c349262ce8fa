import { kindOf, type LeafField } from '../../src/model/definition/fields.ts'
import type { Resource } from '../../src/model/definition/resource.ts'
import { isBlank } from '../../src/model/values.ts'
import { ArgumentsError } from '../../src/service/command.ts'
import { makeTable, valueAsSql } from './tables/table.ts'

/**
 * Parses values of `--default`, such as `books.language=en`.
 *
 * @returns values as SQL, by the name before the equals sign
 * @throws {ArgumentsError} for an unknown field, and for a value that the field does not accept
 */
export function parseDefaults(given: readonly string[], resources: readonly Resource[]): Map<string, string> {
  return new Map(given.map((option) => parseDefault(option, resources)))
}

function parseDefault(option: string, resources: readonly Resource[]): [string, string] {
  const [, field = '', text = ''] = /^([^=]+)=([\s\S]*)$/.exec(option) ?? []
  const columns = resources.flatMap((resource) =>
    makeTable(resource).columns.map((column) => ({ column, name: `${resource.path}.${column.leaf?.name}` })),
  )
  const column = columns.find(({ name }) => name === field)?.column
  if (!column?.leaf) {
    throw new ArgumentsError(
      `--default ${option} must have the form <path>.<field>=<value>, with a field of a definition`,
    )
  }
  const checked = kindOf(column.leaf.field).check(column.leaf.field, parseValue(column.leaf.field, text))
  if ((column.leaf.field.required && isBlank(text)) || !('value' in checked)) {
    const problem = 'problem' in checked ? checked.problem : 'must not be blank'
    throw new ArgumentsError(`--default ${option}: the value ${problem}`)
  }
  return [field, valueAsSql(column, checked.value)]
}

/** Parses a value as in CSV: text needs no quotes. */
function parseValue(field: LeafField, text: string): unknown {
  const { isJson, fromCell } = kindOf(field)
  if (!isJson) return fromCell ? fromCell(text) : text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
