import { createReadStream } from 'node:fs'
import { MAXIMUM_JSON_BYTES } from '../../http/json.ts'
import { DomainError } from '../../model/errors.ts'

/** The number of the row's first line, its size, and its values or the reason why it cannot be read. */
export type InputRow = { readonly line: number; readonly bytes: number } & (
  | { readonly values: unknown }
  | { readonly refusal: DomainError }
)

/**
 * The values of a record; undefined for a blank line or a header.
 *
 * @throws {DomainError} when it cannot be read; {@link BrokenRecord} when its end is uncertain
 */
type Read = (record: Buffer) => unknown

/** The end of the record is uncertain. Only its first line is refused, and reading continues with the next line. */
export class BrokenRecord extends DomainError {}

const LINE_FEED = 0x0a
const BYTE_ORDER_MARK = Buffer.from('\uFEFF')
const LONGEST_RECORD = MAXIMUM_JSON_BYTES + '\r\n'.length

/**
 * A record that cannot be read yields a row with the reason, and reading continues. A record may be as large as a request
 * body; a larger one is not held in memory.
 *
 * @param togglesQuotes whether a line opens a record that it does not end, or ends an open one
 */
export async function* readRecords(
  file: string,
  read: Read,
  togglesQuotes: (line: Buffer) => boolean = () => false,
): AsyncGenerator<InputRow> {
  const lines = linesOf(file)
  // Lines to read again, because they followed the first line of a broken record. The next one is last.
  let ahead: Buffer[] = []
  const next = async (): Promise<Buffer | undefined> => ahead.pop() ?? (await lines.next()).value
  let number = 1
  for (let line = await next(); line; line = await next()) {
    const others: Buffer[] = []
    let length = line.length
    for (let isOpen = togglesQuotes(line); isOpen && length <= LONGEST_RECORD; ) {
      const other = await next()
      if (!other) break
      others.push(other)
      length += other.length
      isOpen = !togglesQuotes(other)
    }
    const row = rowFrom(number, [line, ...others], read)
    if (row) yield row
    const isBroken = row && 'refusal' in row && row.refusal instanceof BrokenRecord
    if (isBroken) ahead = [...ahead, ...others.reverse()]
    number += isBroken ? 1 : 1 + others.length
  }
}

function rowFrom(line: number, lines: readonly Buffer[], read: Read): InputRow | undefined {
  const record = withoutLineEnd(Buffer.concat(lines))
  const bytes = record.length
  try {
    if (bytes > MAXIMUM_JSON_BYTES) {
      const quote = ': a quote that opens on its first line is not closed within that size'
      const message = `The row is larger than ${MAXIMUM_JSON_BYTES} bytes${lines.length > 1 ? quote : ''}.`
      throw new BrokenRecord('PAYLOAD_TOO_LARGE', message)
    }
    const values = read(record)
    return values === undefined ? undefined : { line, bytes, values }
  } catch (error) {
    if (error instanceof DomainError) return { line, bytes, refusal: error }
    throw error
  }
}

function withoutLineEnd(bytes: Buffer): Buffer {
  const [end] = /\r?\n?$/.exec(bytes.subarray(-2).toString('latin1')) as RegExpExecArray
  return bytes.subarray(0, bytes.length - end.length)
}

/** Keeps the line ends. Cuts a line that is too long for a record. */
async function* linesOf(file: string): AsyncGenerator<Buffer> {
  let begun = Buffer.alloc(0)
  let isFirst = true
  for await (const chunk of createReadStream(file)) {
    let rest: Buffer = isFirst && chunk.indexOf(BYTE_ORDER_MARK) === 0 ? chunk.subarray(3) : chunk
    isFirst = false
    for (let end = rest.indexOf(LINE_FEED); end >= 0; end = rest.indexOf(LINE_FEED)) {
      yield Buffer.concat([begun, rest.subarray(0, end + 1)])
      begun = Buffer.alloc(0)
      rest = rest.subarray(end + 1)
    }
    if (begun.length <= LONGEST_RECORD) begun = Buffer.concat([begun, rest])
  }
  if (begun.length > 0) yield begun
}
