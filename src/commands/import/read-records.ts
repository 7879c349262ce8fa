import { DomainError } from '../../domain/model/errors.ts'
import { MAXIMUM_JSON_BYTES } from '../../http/json/strict-json.ts'
import { LookAhead } from './look-ahead.ts'

/** A row of a file: the line it begins at, from 1, and what it holds, or why it is refused unread. */
export type InputRow =
  | { readonly line: number; readonly values: unknown }
  | { readonly line: number; readonly refusal: DomainError }

/** How a file is divided into records, and what a record holds. */
export interface RecordFormat {
  /** The length of the first record, with its line end; -1 for bytes that do not hold its end. */
  readonly lengthOf: (bytes: Buffer) => number
  /**
   * The values of a record; undefined for one that is no row, such as a blank line.
   *
   * @throws {DomainError} when it cannot be read
   * @throws {BrokenRecord} when it is uncertain where it ends
   */
  readonly read: (record: Buffer) => unknown
}

/** A record whose end is uncertain. Only its first line is given up; the next one is read as a record again. */
export class BrokenRecord extends DomainError {}

const BYTE_ORDER_MARK = '\uFEFF'
const LINE_END_BYTES = 2

/**
 * Reads the records of a file one after the other. A record that cannot be read yields a row that says why, and
 * reading goes on after it. A record may be as large as a request body; of a larger one no more is held in memory.
 */
export async function* readRecords(file: string, { lengthOf, read }: RecordFormat): AsyncGenerator<InputRow> {
  const input = new LookAhead(file)
  try {
    if (await input.hasMore()) skipByteOrderMark(input)
    for (let line = 1; await input.hasMore(); ) {
      const length = await input.find(lengthOf, MAXIMUM_JSON_BYTES + LINE_END_BYTES)
      const record = withoutLineEnd(input.bytes.subarray(0, length))
      const row = rowFrom(line, record, read)
      if (row) yield row
      const isBroken = row && 'refusal' in row && row.refusal instanceof BrokenRecord
      line += isBroken ? await input.skipLine() : input.skip(length)
    }
  } finally {
    await input.close()
  }
}

function rowFrom(line: number, record: Buffer, read: RecordFormat['read']): InputRow | undefined {
  try {
    refuseLarge(record)
    const values = read(record)
    return values === undefined ? undefined : { line, values }
  } catch (error) {
    if (error instanceof DomainError) return { line, refusal: error }
    throw error
  }
}

function refuseLarge(record: Buffer): void {
  if (record.length <= MAXIMUM_JSON_BYTES) return
  const cause = record.includes('\n')
    ? ': a quote that opens in its first line is not closed before that'
    : ''
  throw new BrokenRecord('PAYLOAD_TOO_LARGE', `The row is larger than ${MAXIMUM_JSON_BYTES} bytes${cause}.`)
}

function skipByteOrderMark(input: LookAhead): void {
  const mark = Buffer.from(BYTE_ORDER_MARK)
  if (input.bytes.subarray(0, mark.length).equals(mark)) input.skip(mark.length)
}

function withoutLineEnd(bytes: Buffer): Buffer {
  const line = bytes.at(-1) === 0x0a ? bytes.subarray(0, -1) : bytes
  return line.at(-1) === 0x0d ? line.subarray(0, -1) : line
}
