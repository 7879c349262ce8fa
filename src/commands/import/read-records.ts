import { createReadStream } from 'node:fs'
import { MAXIMUM_JSON_BYTES } from '../../http/json/strict-json.ts'
import { DomainError } from '../../model/errors.ts'

/** A row of a file: the number of its first line, and its values or the reason why it cannot be read. */
export type InputRow =
  | { readonly line: number; readonly values: unknown }
  | { readonly line: number; readonly refusal: DomainError }

/** Divides a file into records and reads one. */
export interface RecordFormat {
  /** The length of the first record including its line end; -1 if the bytes end before it. */
  readonly lengthOf: (bytes: Buffer) => number
  /**
   * The values of a record; undefined for a blank line or a header.
   *
   * @throws {DomainError} when it cannot be read; {@link BrokenRecord} when its end is uncertain
   */
  readonly read: (record: Buffer) => unknown
}

/** The end of the record is uncertain. Only its first line is refused, and reading continues with the next line. */
export class BrokenRecord extends DomainError {}

export const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const NOTHING = Buffer.alloc(0)
const BYTE_ORDER_MARK = Buffer.from('\uFEFF')
const LINE_END_BYTES = 2

/**
 * Reads the records of a file one by one. A record that cannot be read yields a row with the reason, and reading
 * continues. A record may be as large as a request body; a larger one is not held in memory.
 */
export async function* readRecords(file: string, { lengthOf, read }: RecordFormat): AsyncGenerator<InputRow> {
  const input = new LookAhead(file)
  try {
    const hasMark = (await input.hasMore()) && input.bytes.indexOf(BYTE_ORDER_MARK) === 0
    if (hasMark) input.skip(BYTE_ORDER_MARK.length)
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
    ? ': a quote that opens on its first line is not closed within that size'
    : ''
  throw new BrokenRecord('PAYLOAD_TOO_LARGE', `The row is larger than ${MAXIMUM_JSON_BYTES} bytes${cause}.`)
}

function withoutLineEnd(bytes: Buffer): Buffer {
  const line = bytes.at(-1) === LINE_FEED ? bytes.subarray(0, -1) : bytes
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line
}

/** Reads a file from its beginning. Only the bytes that are not skipped yet are in memory. */
class LookAhead {
  bytes: Buffer = NOTHING
  readonly #chunks: AsyncIterator<Buffer>

  constructor(file: string) {
    this.#chunks = createReadStream(file)[Symbol.asyncIterator]()
  }

  /** Reads on if `bytes` is empty; false at the end of the file. */
  async hasMore(): Promise<boolean> {
    return this.bytes.length > 0 || this.#read()
  }

  /** Reads on to the end of the first record. Returns its length, or that of `bytes` beyond the limit or at the end. */
  async find(lengthOf: (bytes: Buffer) => number, limit: number): Promise<number> {
    for (;;) {
      const length = lengthOf(this.bytes)
      if (length >= 0) return length
      if (this.bytes.length > limit || !(await this.#read())) return this.bytes.length
    }
  }

  /** Skips the first bytes; returns the number of line feeds in them. */
  skip(length: number): number {
    const skipped = this.bytes.subarray(0, length)
    this.bytes = this.bytes.subarray(length)
    let lines = 0
    for (let at = skipped.indexOf(LINE_FEED); at >= 0; at = skipped.indexOf(LINE_FEED, at + 1)) lines += 1
    return lines
  }

  /** Skips the rest of a line of any length. Returns 1, or 0 at the end of the file. */
  async skipLine(): Promise<number> {
    while (await this.hasMore()) {
      const end = this.bytes.indexOf(LINE_FEED)
      if (end >= 0) return this.skip(end + 1)
      this.bytes = NOTHING
    }
    return 0
  }

  async close(): Promise<void> {
    await this.#chunks.return?.()
  }

  async #read(): Promise<boolean> {
    const { value, done } = await this.#chunks.next()
    if (done) return false
    this.bytes = this.bytes.length === 0 ? value : Buffer.concat([this.bytes, value])
    return true
  }
}
