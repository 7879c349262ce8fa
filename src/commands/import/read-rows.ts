import { parseStrictJson } from '../../http/json/strict-json.ts'
import type { Resource } from '../../model/resource.ts'
import { readCsv } from './read-csv.ts'
import { type InputRow, readRecords } from './read-records.ts'

/** Reads the rows of a file one after the other, in constant memory, without blank lines. */
export type ReadRows = (file: string, resource: Resource) => AsyncIterable<InputRow>

/** The reader for the extension of a file; undefined for other extensions. */
export function readerOf(file: string): ReadRows | undefined {
  if (/\.(ndjson|jsonl)$/i.test(file)) return readLines
  return /\.csv$/i.test(file) ? readCsv : undefined
}

const BLANK = /^[ \t\r]*$/

function readLines(file: string): AsyncIterable<InputRow> {
  return readRecords(file, {
    lengthOf: (bytes) => bytes.indexOf('\n') + 1 || -1,
    read: (line) => (BLANK.test(line.toString('latin1')) ? undefined : parseStrictJson(line, 'The line')),
  })
}
