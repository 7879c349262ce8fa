/** A statement that would read rows from the connection, which the embedded engine cannot wait for. */
const COPY_FROM_CLIENT = /\bcopy\b[^;]*\bfrom\s+stdin\b/i

const QUERY = 'Q'.charCodeAt(0)
const PARSE = 'P'.charCodeAt(0)

/** What an ErrorResponse says that ends the session; the zero bytes keep it apart from any text value. */
const FATAL = ['FATAL', 'PANIC'].map((severity) => `S${severity}\0V${severity}\0`)

/** Ends a transaction in whatever state it is: after an error the engine ignores everything up to a Sync. */
export const ROLLBACK: Uint8Array = Buffer.concat([frame('S', ''), frame('Q', 'ROLLBACK\0')])

/** The `application_name` of a start-up message, if it has one. */
export function applicationName(startUp: Uint8Array): string | undefined {
  // After its length and the version of the protocol: names and values by turns.
  const texts = Buffer.from(startUp.subarray(8)).toString('utf8').split('\0')
  const index = texts.findIndex((text, place) => place % 2 === 0 && text === 'application_name')
  return index === -1 ? undefined : texts[index + 1]
}

/**
 * The message itself, or, for a Query or Parse of COPY … FROM STDIN, one whose failure says that this is
 * not possible: the engine would take the end of the message for the end of the connection, and die.
 */
export function refuseCopy(message: Uint8Array): Uint8Array {
  if (message[0] !== QUERY && message[0] !== PARSE) return message
  // Without the type and the length, whose last byte may look like a letter of the first word.
  if (!COPY_FROM_CLIENT.test(Buffer.from(message.subarray(5)).toString('utf8'))) return message
  const refusal =
    "DO $$ BEGIN RAISE 'COPY FROM STDIN is not possible on the embedded database' USING ERRCODE = '0A000'; END $$\0"
  return message[0] === QUERY ? frame('Q', refusal) : frame('P', `\0${refusal}\0\0`)
}

/** Whether what the engine answers says that the session is over. */
export function isFatal(answer: Uint8Array): boolean {
  const bytes = Buffer.from(answer.buffer, answer.byteOffset, answer.length)
  return FATAL.some((severity) => bytes.includes(severity))
}

function frame(type: string, content: string): Uint8Array {
  const body = Buffer.from(content)
  const header = Buffer.alloc(5, type)
  header.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([header, body])
}
