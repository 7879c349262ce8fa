import type { Resource } from '../../domain/model/resource.ts'
import { parseStrictJson } from '../../http/json/strict-json.ts'
import { readCsv } from './read-csv.ts'
import { type InputRow, readRecords } from './read-records.ts'

export type Format = 'ndjson' | 'csv'

/** The format of a file by its extension; undefined for other extensions. */
export function formatOf(file: string): Format | undefined {
  if (/\.(ndjson|jsonl)$/i.test(file)) return 'ndjson'
  return /\.csv$/i.test(file) ? 'csv' : undefined
}

/** Reads the rows of a file one after the other, in constant memory, without blank lines. */
export function readRows(file: string, format: Format, resource: Resource): AsyncGenerator<InputRow> {
  return format === 'csv' ? readCsv(file, resource) : readLines(file)
}

const BLANK = /^[ \t\r]*$/

function readLines(file: string): AsyncGenerator<InputRow> {
  return readRecords(file, {
    lengthOf: (bytes) => bytes.indexOf('\n') + 1 || -1,
    read: (line) => (BLANK.test(line.toString('latin1')) ? undefined : parseStrictJson(line, 'The line')),
  })
}
