import { isUtf8 } from 'node:buffer'
import { type CsvError, parse } from 'csv-parse/sync'
import { parseStrictJson } from '../../http/json.ts'
import { DomainError } from '../../model/errors.ts'
import { kindOf, type LeafField } from '../../model/fields.ts'
import type { Leaf, Resource, Values } from '../../model/resource.ts'
import { toValues } from '../../model/rows.ts'
import { withoutApostrophe } from '../../rest/items.ts'
import { ArgumentsError } from '../../service/command.ts'
import { BrokenRecord, type InputRow, readRecords } from './read-records.ts'

const QUOTE = 0x22

/** Undefined for an empty cell without quotes. */
type Cell = string | undefined

/**
 * Reads the rows of a CSV file (RFC 4180), whose first record names the columns.
 *
 * @throws {ArgumentsError} for a header that cannot be parsed or has unknown or duplicate columns
 */
export async function* readCsv(file: string, resource: Resource): AsyncGenerator<InputRow> {
  let columns: readonly Leaf[] | undefined
  const read = (record: Buffer) => {
    const cells = cellsOf(record)
    if (cells === undefined) return undefined
    if (columns) return cellsToValues(resource, columns, cells)
    columns = columnsOf(resource, cells)
    return undefined
  }
  for await (const row of readRecords(file, read, hasOddQuotes)) {
    if (!columns && 'refusal' in row) throw new ArgumentsError(`Invalid header: ${row.refusal.message}`)
    yield row
  }
}

/** A record ends at the first line feed outside of quotes. */
function hasOddQuotes(line: Buffer): boolean {
  let isOdd = false
  for (let at = line.indexOf(QUOTE); at >= 0; at = line.indexOf(QUOTE, at + 1)) isOdd = !isOdd
  return isOdd
}

const OPTIONS = {
  record_delimiter: '\n',
  relax_column_count: true,
  cast: (text: string, { quoting }: { quoting: boolean }) => (text === '' && !quoting ? undefined : text),
}

/** The messages of the parser would count lines from the beginning of the record. */
const REASONS: Readonly<Record<string, string>> = {
  INVALID_OPENING_QUOTE: 'A cell that contains a quote must begin with a quote.',
  CSV_INVALID_CLOSING_QUOTE:
    'A closing quote must be followed by a comma or the end of the line; inside a cell it must be doubled.',
  CSV_QUOTE_NOT_CLOSED: 'A quote that opens on this line is never closed.',
}

/** Undefined for a blank line. */
function cellsOf(record: Buffer): readonly Cell[] | undefined {
  let records: Cell[][]
  try {
    records = parse(record, OPTIONS)
  } catch (error) {
    const reason = REASONS[(error as CsvError).code]
    throw reason === undefined ? error : new BrokenRecord('VALIDATION_FAILED', reason)
  }
  // Parsing comes first, because it shows whether these bytes are one record.
  if (!isUtf8(record)) throw new DomainError('VALIDATION_FAILED', 'The row is not valid UTF-8.')
  return records[0]
}

function columnsOf({ path, shownLeaves: known }: Resource, header: readonly Cell[]): readonly Leaf[] {
  const columns = header.map((cell = '') => known.find(({ name }) => name === cell) ?? cell)
  const unknown = columns.filter((column) => typeof column === 'string')
  if (unknown.length > 0) {
    const names = known.map(({ name }) => name).join(', ')
    throw new ArgumentsError(
      `Unknown columns in the header: ${unknown.join(', ')}. Columns of ${path}: ${names}.`,
    )
  }
  const repeated = header.filter((cell, index) => header.indexOf(cell) !== index)
  if (repeated.length > 0)
    throw new ArgumentsError(`Duplicate columns in the header: ${repeated.join(', ')}.`)
  return columns as Leaf[]
}

/**
 * The values of a row. An empty cell is an unset field. A cell that does not fit the type of its field stays text, which
 * validation refuses later.
 *
 * @throws {DomainError} VALIDATION_FAILED when the row has too many or too few cells, MALFORMED_JSON
 */
function cellsToValues(resource: Resource, columns: readonly Leaf[], cells: readonly Cell[]): Values {
  if (cells.length !== columns.length) {
    const message = `The row has ${cells.length} cells, but the header has ${columns.length}.`
    throw new DomainError('VALIDATION_FAILED', message)
  }
  const given = columns.map(({ column, field }, index) => [column, cellValue(field, cells[index])] as const)
  return toValues(resource, Object.fromEntries(given))
}

/** Only free text can be the empty string. Elsewhere `""` is an unset field: some programs quote every cell. */
function cellValue(field: LeafField, cell: Cell): unknown {
  const { isJson, isText, isFreeText, fromCell } = kindOf(field)
  if (cell === undefined || (cell === '' && !(isFreeText && !field.readOnly))) return undefined
  if (isJson) return parseStrictJson(Buffer.from(cell), 'The cell')
  if (isText) return withoutApostrophe(cell)
  return fromCell ? fromCell(cell) : cell
}
