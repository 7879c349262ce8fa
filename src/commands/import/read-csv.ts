import { isUtf8 } from 'node:buffer'
import { type CsvError, parse } from 'csv-parse/sync'
import { DomainError } from '../../domain/model/errors.ts'
import type { Resource } from '../../domain/model/resource.ts'
import { ArgumentsError } from '../arguments.ts'
import { type Cell, cellsToValues, refuseHeader } from './csv-values.ts'
import { BrokenRecord, type InputRow, readRecords } from './read-records.ts'

const LINE_FEED = 0x0a
const QUOTE = 0x22

/**
 * Reads the rows of a CSV file (RFC 4180), whose first record names the columns.
 *
 * @throws {ArgumentsError} when the header cannot be read, names a column twice, or one that is not a field
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
    if (!header && 'refusal' in row) throw new ArgumentsError(`The header is refused: ${row.refusal.message}`)
    yield row
  }
}

/** A record ends at the first line feed that is not between quotes. */
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
  const cells = parsed(record)
  // Only a record that is whole is known to hold these bytes.
  if (!isUtf8(record)) throw new DomainError('VALIDATION_FAILED', 'The row is not valid UTF-8.')
  return cells
}

function parsed(record: Buffer): Cell[] | undefined {
  try {
    return (parse(record, OPTIONS) as Cell[][])[0]
  } catch (error) {
    throw new BrokenRecord('VALIDATION_FAILED', reasonOf(error as CsvError))
  }
}

/** The parser's own messages count the lines of this record alone. */
function reasonOf(error: CsvError): string {
  switch (error.code as string) {
    case 'INVALID_OPENING_QUOTE':
      return 'A cell that does not begin with a quote holds one.'
    case 'CSV_INVALID_CLOSING_QUOTE':
      return 'A quote is followed by neither a comma nor the end of the line; inside a cell it must be doubled.'
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'A quote that opens in this line is never closed.'
    default:
      throw error
  }
}
