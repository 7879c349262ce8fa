/** Fields of an ErrorResponse that ends the session. Zero bytes distinguish them from text values. */
const FATAL = ['FATAL', 'PANIC'].map((severity) => `S${severity}\0V${severity}\0`)

/** Ends a transaction in any state: after an error, the engine ignores all messages before a Sync. */
export const ROLLBACK: Uint8Array = Buffer.concat([frame('S', ''), frame('Q', 'ROLLBACK\0')])

export function applicationName(startUp: Uint8Array): string | undefined {
  // Names alternate with values, after the length and the version of the protocol.
  const texts = Buffer.from(startUp.subarray(8)).toString('utf8').split('\0')
  return texts.find((_, place) => place % 2 === 1 && texts[place - 1] === 'application_name')
}

/**
 * Replaces a Query or Parse of COPY … FROM STDIN with a statement that raises an error. The engine would take the end
 * of the message for the end of the connection, and fail.
 */
export function refuseCopy(message: Uint8Array): Uint8Array {
  const type = String.fromCharCode(message[0] ?? 0)
  if (type !== 'Q' && type !== 'P') return message
  // Skips the type and the length, whose last byte may be a letter.
  const statements = Buffer.from(message.subarray(5)).toString('utf8').split(';')
  if (!statements.some(isCopyFromClient)) return message
  const refusal =
    "DO $$ BEGIN RAISE 'COPY FROM STDIN is not possible on the embedded database' USING ERRCODE = '0A000'; END $$\0"
  return type === 'Q' ? frame('Q', refusal) : frame('P', `\0${refusal}\0\0`)
}

/** Whether a statement reads rows from the connection, which the embedded engine does not support. */
function isCopyFromClient(statement: string): boolean {
  const start = statement.search(/\bcopy\b/i)
  return start !== -1 && /\bfrom\s+stdin\b/i.test(statement.slice(start))
}

export function isFatal(answer: Uint8Array): boolean {
  const bytes = Buffer.from(answer.buffer, answer.byteOffset, answer.length)
  return FATAL.some((severity) => bytes.includes(severity))
}

/** A message of this type, with its length (PostgreSQL, section 55.7). */
export function frame(type: string, content: string | Uint8Array = ''): Buffer {
  const body = Buffer.from(content)
  const header = Buffer.alloc(5, type)
  header.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([header, body])
}
