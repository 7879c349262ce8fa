import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { parse } from 'csv-parse'
import type { Resource, Values } from '../../domain/resource.ts'
import { cellsToValues, refuseUnknownColumns } from './csv-values.ts'

export type Format = 'ndjson' | 'csv'

/** A row of a file: the line it begins at, from 1, and what it holds, or why that cannot be read. */
export type InputRow =
  | { readonly line: number; readonly values: unknown }
  | { readonly line: number; readonly unreadable: string }

/** The format of a file by the end of its name; undefined where that is neither. */
export function formatOf(file: string): Format | undefined {
  if (/\.(ndjson|jsonl)$/i.test(file)) return 'ndjson'
  return /\.csv$/i.test(file) ? 'csv' : undefined
}

/** Reads the rows of a file one after the other, in constant memory. Blank lines are none. */
export function readRows(file: string, format: Format, resource: Resource): AsyncGenerator<InputRow> {
  return format === 'csv' ? readCsv(file, resource) : readLines(file)
}

async function* readLines(file: string): AsyncGenerator<InputRow> {
  let line = 0
  const stream = createReadStream(file, { encoding: 'utf8' })
  for await (const text of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
    line += 1
    // A byte order mark is no part of the first line.
    const json = line === 1 ? text.replace(/^\uFEFF/, '') : text
    if (json.trim() !== '') yield parsed(line, json)
  }
}

function parsed(line: number, json: string): InputRow {
  try {
    return { line, values: JSON.parse(json) }
  } catch (error) {
    return { line, unreadable: (error as Error).message }
  }
}

/** @throws {ArgumentsError} when the header names a column that is not a field */
async function* readCsv(file: string, resource: Resource): AsyncGenerator<InputRow> {
  const options = { bom: true, info: true, relax_column_count: true, skip_empty_lines: true } as const
  const records = createReadStream(file).pipe(parse(options))
  let header: string[] | undefined
  let line = 1
  for await (const { record, info } of records as AsyncIterable<CsvRecord>) {
    if (header === undefined) {
      header = record
      refuseUnknownColumns(resource, header)
    } else if (record.length !== header.length) {
      yield { line, unreadable: `The row has ${record.length} cells and the header ${header.length}.` }
    } else {
      yield { line, values: cellsToValues(resource, header, record) as Values }
    }
    line = info.lines + 1
  }
}

interface CsvRecord {
  readonly record: string[]
  readonly info: { readonly lines: number }
}
