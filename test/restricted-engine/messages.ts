import { frame } from '../../src/database/embedded/wire-messages.ts'

/** A message of PostgreSQL's protocol: its type, its length and its content (section 55.7 of the documentation). */
export type Message = Buffer

/** Splits what arrives on a connection into messages. */
export function createReader(): (bytes: Buffer) => Message[] {
  let rest: Buffer = Buffer.alloc(0)
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    const messages: Message[] = []
    let start = 0
    while (rest.length >= start + 5) {
      const end = start + 1 + rest.readInt32BE(start + 1)
      if (rest.length < end) break
      messages.push(rest.subarray(start, end))
      start = end
    }
    rest = rest.subarray(start)
    return messages
  }
}

export function typeOf(message: Message): string {
  return String.fromCharCode(message[0] as number)
}

/** The texts that a message begins with: the SQL of a Query, for instance, or the name and the SQL of a Parse. */
export function textsOf(message: Message, count: number): string[] {
  const texts: string[] = []
  let start = 5
  while (texts.length < count) {
    const end = message.indexOf(0, start)
    texts.push(message.toString('utf8', start, end))
    start = end + 1
  }
  return texts
}

export function queryMessage(sql: string): Message {
  return frame('Q', Buffer.from(`${sql}\0`))
}

/** @param parameterTypes what follows the SQL in a Parse message; by default, none are given */
export function parseMessage(name: string, sql: string, parameterTypes: Buffer = Buffer.alloc(2)): Message {
  return frame('P', Buffer.concat([Buffer.from(`${name}\0${sql}\0`), parameterTypes]))
}

/** What follows these texts in a message. */
export function after(message: Message, texts: readonly string[]): Buffer {
  return message.subarray(texts.reduce((start, text) => start + Buffer.byteLength(text) + 1, 5))
}

export function errorMessage(state: string, text: string): Message {
  const fields = ['SERROR', 'VERROR', `C${state}`, `M${text}`, '']
  return frame('E', Buffer.from(fields.map((field) => `${field}\0`).join('')))
}
