import { isUtf8 } from 'node:buffer'
import { type CsvError, parse } from 'csv-parse/sync'
import { parseStrictJson } from '../../http/json.ts'
import { kindOf } from '../../model/definition/fields.ts'
import type { Leaf, Resource, Values } from '../../model/definition/resource.ts'
import { DomainError, errorAt } from '../../model/errors.ts'
import { toValues } from '../../model/rows/columns.ts'
import { withoutApostrophe } from '../../rest/items.ts'
import { ArgumentsError } from '../../service/command.ts'
import type { LocalCells } from './local-cells.ts'
import { BrokenRecord, readRecords } from './read-records.ts'

const QUOTE = 0x22

/** Undefined for an empty cell without quotes. */
type Cell = string | undefined

/** Undefined for a column without a name, whose cells must be empty. */
type Column = Leaf | undefined

/** What separates cells. Spreadsheets write semicolons where the comma separates decimals. */
const DELIMITERS = [',', ';', '\t'] as const

/** Names the delimiter for Excel. */
const SEPARATOR_LINE = /^sep=.$/i

interface Header {
  readonly delimiter: string
  readonly columns: readonly Column[]
}

/**
 * Reads the rows of a CSV file (RFC 4180), whose first record names the columns. Cells are separated as in the header.
 *
 * @param local reads the cells
 * @throws {ArgumentsError} for a header that cannot be parsed or has unknown or duplicate columns
 */
export async function* readCsv(file: string, resource: Resource, local: LocalCells) {
  let header: Header | undefined
  const read = (record: Buffer) => {
    if (!header && SEPARATOR_LINE.test(record.toString('latin1'))) return undefined
    const cells = cellsOf(record, header?.delimiter)
    if (cells.every((cell = '') => cell.trim() === '')) return undefined
    if (header) return cellsToValues(resource, header.columns, cells, local)
    header = headerOf(resource, record)
    return undefined
  }
  for await (const row of readRecords(file, read, hasOddQuotes)) {
    if (!header && 'refusal' in row) throw new ArgumentsError(`Invalid header: ${row.refusal.message}`)
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
  cast: (text: string, { quoting }: { quoting: boolean }) => (text === '' && !quoting ? undefined : text),
}

/** The messages of the parser would count lines from the beginning of the record. */
const REASONS: Readonly<Record<string, string>> = {
  INVALID_OPENING_QUOTE: 'A cell that contains a quote must begin with a quote.',
  CSV_INVALID_CLOSING_QUOTE:
    'A closing quote must be followed by the end of the cell; inside a cell it must be doubled.',
  CSV_QUOTE_NOT_CLOSED: 'A quote that opens on this line is never closed.',
}

function cellsOf(record: Buffer, delimiter: string = DELIMITERS[0]): readonly Cell[] {
  let records: Cell[][]
  try {
    records = parse(record, { ...OPTIONS, delimiter })
  } catch (error) {
    const reason = REASONS[(error as CsvError).code]
    throw reason === undefined ? error : new BrokenRecord('VALIDATION_FAILED', reason)
  }
  // Parsing comes first, because it shows whether these bytes are one record.
  if (!isUtf8(record)) throw new DomainError('VALIDATION_FAILED', 'The row is not valid UTF-8.')
  return records[0] ?? []
}

/** The delimiter with which all columns are known, or else the one that makes the most columns. */
function headerOf(resource: Resource, record: Buffer): Header {
  const parsed = DELIMITERS.map((delimiter) => {
    return { delimiter, names: cellsOf(record, delimiter).map((cell = '') => cell.trim()) }
  })
  const candidates = parsed
    .filter(({ names }) => names.every((name) => name === '' || leafOf(resource, name)))
    .concat(parsed.sort((one, other) => other.names.length - one.names.length))
  const [{ delimiter, names }] = candidates as [(typeof parsed)[number]]
  return { delimiter, columns: columnsOf(resource, names) }
}

function leafOf({ shownLeaves }: Resource, name: string): Column {
  return shownLeaves.find((leaf) => leaf.name.toLowerCase() === name.toLowerCase())
}

function columnsOf(resource: Resource, names: readonly string[]): readonly Column[] {
  const columns = names.map((name) => leafOf(resource, name))
  const unknown = names.filter((name, index) => name !== '' && !columns[index])
  if (unknown.length > 0) {
    const supported = resource.shownLeaves.map(({ name }) => name).join(', ')
    throw new ArgumentsError(
      `Unknown columns in the header: ${unknown.join(', ')}. Columns of ${resource.path}: ${supported}. ` +
        'Commas, semicolons or tabs separate them.',
    )
  }
  const repeated = names.filter((_, index) => columns[index] && columns.indexOf(columns[index]) !== index)
  if (repeated.length > 0)
    throw new ArgumentsError(`Duplicate columns in the header: ${repeated.join(', ')}.`)
  return columns
}

/**
 * The values of a row. An empty cell is an unset field. A cell that does not fit the type of its field stays text, which
 * validation refuses later.
 *
 * @throws {DomainError} VALIDATION_FAILED when the row has too many or too few cells, MALFORMED_JSON
 */
function cellsToValues(
  resource: Resource,
  columns: readonly Column[],
  cells: readonly Cell[],
  local: LocalCells,
): Values {
  const end = cells.findLastIndex((cell) => cell !== undefined) + 1
  if (cells.length < columns.length || end > columns.length) {
    const message = `The row has ${cells.length} cells, but the header has ${columns.length}.`
    throw new DomainError('VALIDATION_FAILED', message)
  }
  const entries = columns.flatMap((leaf, index) => {
    const cell = cells[index]
    if (leaf) return [[leaf.column, cellValue(leaf, cell, local)] as const]
    if (cell === undefined || cell === '') return []
    const message = `The cell ${index + 1} has a value, but no name in the header.`
    throw new DomainError('VALIDATION_FAILED', message)
  })
  return toValues(resource, Object.fromEntries(entries))
}

/** A comma, and three digits after it, can mean a fraction or thousands. */
const AMBIGUOUS_NUMBER = /^[+-]?[1-9]\d{0,2},\d{3}$/

/** Only free text can be the empty string. Elsewhere `""` is an unset field: some programs quote every cell. */
function cellValue({ name, field }: Leaf, cell: Cell, local: LocalCells): unknown {
  const { isJson, isText, isFreeText, isMeasurable, fromCell, cellForms } = kindOf(field)
  if (cell === undefined || (cell === '' && !(isFreeText && !field.readOnly))) return undefined
  if (isText) return withoutApostrophe(cell)
  const text = cell.trim()
  if (text === '') return undefined
  if (isJson) return parseStrictJson(Buffer.from(text), 'The cell')
  const read = local(field, text)
  if (isMeasurable && AMBIGUOUS_NUMBER.test(read)) {
    const [point, thousands] = [text.replace(',', '.'), text.replace(',', '')]
    const message = `${name} is ${text}, which can mean ${point} or ${thousands}; write one of these.`
    throw errorAt(name, 'INVALID_FORMAT', 'VALIDATION_FAILED', message)
  }
  const value = fromCell ? fromCell(read) : read
  if (cellForms === undefined || typeof value !== 'string') return value
  const message = `${name} is ${JSON.stringify(text.slice(0, 100))}, which is no value; write ${cellForms}.`
  throw errorAt(name, 'INVALID_TYPE', 'VALIDATION_FAILED', message)
}
