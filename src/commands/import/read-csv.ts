import { isUtf8 } from 'node:buffer'
import { type CsvError, parse } from 'csv-parse/sync'
import { parseStrictJson } from '../../http/json/strict-json.ts'
import { DomainError } from '../../model/errors.ts'
import { kindOf, type LeafField } from '../../model/fields.ts'
import type { Resource, Values } from '../../model/resource.ts'
import { toValues } from '../../model/rows.ts'
import { ArgumentsError } from '../../service/command.ts'
import { BrokenRecord, type InputRow, LINE_FEED, readRecords } from './read-records.ts'

const QUOTE = 0x22

/** The text of a cell; undefined for an empty cell without quotes. */
type Cell = string | undefined

/**
 * Reads the rows of a CSV file (RFC 4180), whose first record names the columns.
 *
 * @throws {ArgumentsError} for a header that cannot be parsed or has unknown or duplicate columns
 */
export async function* readCsv(file: string, resource: Resource): AsyncGenerator<InputRow> {
  let header: readonly string[] | undefined
  const read = (record: Buffer) => {
    const cells = cellsOf(record)
    if (cells === undefined) return undefined
    if (header) return cellsToValues(resource, header, cells)
    header = cells.map((cell) => cell ?? '')
    return refuseHeader(resource, header)
  }
  for await (const row of readRecords(file, { lengthOf, read })) {
    if (!header && 'refusal' in row) throw new ArgumentsError(`Invalid header: ${row.refusal.message}`)
    yield row
  }
}

/** A record ends at the first line feed outside of quotes. */
function lengthOf(bytes: Buffer): number {
  let isQuoted = false
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === QUOTE) isQuoted = !isQuoted
    else if (bytes[at] === LINE_FEED && !isQuoted) return at + 1
  }
  return -1
}

const OPTIONS = {
  record_delimiter: '\n',
  relax_column_count: true,
  cast: (text: string, { quoting }: { quoting: boolean }) => (text === '' && !quoting ? undefined : text),
}

/** The cells of a record; undefined for a blank line. */
function cellsOf(record: Buffer): Cell[] | undefined {
  if (record.length === 0) return undefined
  const cells = parseRecord(record)
  // Parsing comes first, because it shows whether these bytes are one record.
  if (!isUtf8(record)) throw new DomainError('VALIDATION_FAILED', 'The row is not valid UTF-8.')
  return cells
}

function parseRecord(record: Buffer): Cell[] | undefined {
  try {
    return (parse(record, OPTIONS) as Cell[][])[0]
  } catch (error) {
    throw new BrokenRecord('VALIDATION_FAILED', reasonOf(error as CsvError))
  }
}

/** The messages of the parser would count lines from the beginning of the record. */
function reasonOf(error: CsvError): string {
  switch (error.code as string) {
    case 'INVALID_OPENING_QUOTE':
      return 'A cell that contains a quote must begin with a quote.'
    case 'CSV_INVALID_CLOSING_QUOTE':
      return 'A closing quote must be followed by a comma or the end of the line; inside a cell it must be doubled.'
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'A quote that opens on this line is never closed.'
    default:
      throw error
  }
}

function refuseHeader(resource: Resource, header: readonly string[]): void {
  const known = resource.leaves.filter(({ field }) => !field.hidden).map(({ name }) => name)
  const unknown = header.filter((column) => !known.includes(column))
  if (unknown.length > 0) {
    const columns = `Columns of ${resource.path}: ${known.join(', ')}.`
    throw new ArgumentsError(`Unknown columns in the header: ${unknown.join(', ')}. ${columns}`)
  }
  const repeated = header.filter((column, index) => header.indexOf(column) !== index)
  if (repeated.length > 0) {
    throw new ArgumentsError(`Duplicate columns in the header: ${repeated.join(', ')}.`)
  }
}

/** Only free text can be the empty string. Elsewhere `""` is an unset field: some programs quote every cell. */
function isFreeText(field: LeafField): boolean {
  return kindOf(field).isFreeText === true && !field.readOnly
}

/**
 * The values of a row. An empty cell is an unset field. A cell that does not fit the type of its field stays text, which
 * validation refuses later.
 *
 * @throws {DomainError} VALIDATION_FAILED when the row has too many or too few cells, MALFORMED_JSON
 */
function cellsToValues(resource: Resource, header: readonly string[], cells: readonly Cell[]): Values {
  if (cells.length !== header.length) {
    const message = `The row has ${cells.length} cells, but the header has ${header.length}.`
    throw new DomainError('VALIDATION_FAILED', message)
  }
  const columns: Record<string, unknown> = {}
  for (const [index, heading] of header.entries()) {
    const leaf = resource.leaves.find(({ name }) => name === heading)
    const cell = cells[index]
    if (!leaf || cell === undefined || (cell === '' && !isFreeText(leaf.field))) continue
    columns[leaf.column] = cellValue(leaf.field, cell)
  }
  return toValues(resource, columns)
}

function cellValue(field: LeafField, cell: string): unknown {
  const { isJson, fromCell } = kindOf(field)
  if (isJson) return parseStrictJson(Buffer.from(cell), 'The cell')
  return fromCell ? fromCell(cell) : cell
}
