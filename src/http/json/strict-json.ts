import secureJson from 'secure-json-parse'
import { DomainError } from '../../model/errors.ts'

/** The maximum size of a JSON text: a request body, or one line of an import. */
export const MAXIMUM_JSON_BYTES = 1024 * 1024

/** Members and elements. A megabyte of them takes ten times as long to parse as one string. */
const MAXIMUM_VALUES = 10_000

const MAXIMUM_DEPTH = 64

/**
 * Decodes and parses a JSON text (RFC 8259): valid UTF-8, no duplicate members, no `__proto__` or `constructor`, at most
 * 64 levels and 10,000 values.
 *
 * @param subject the subject of error messages: `The body`
 * @throws {DomainError} MALFORMED_JSON (400)
 */
export function parseStrictJson(bytes: Uint8Array, subject: string): unknown {
  const text = decode(bytes, subject)
  try {
    refuseAmbiguous(text)
    return secureJson.parse(text, { protoAction: 'error', constructorAction: 'error' })
  } catch (error) {
    const problem = (error as Error).message
    throw new DomainError('MALFORMED_JSON', `${subject} is not acceptable JSON: ${problem}.`)
  }
}

function decode(bytes: Uint8Array, subject: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new DomainError('MALFORMED_JSON', `${subject} is not valid UTF-8.`)
  }
}

/**
 * Refuses a text with duplicate members, too many values or too many levels, before it is parsed. Parsers differ on
 * which of two duplicate members counts (RFC 8259 §4), so two programs can read one body differently.
 *
 * @param text may be malformed; then it may pass
 */
function refuseAmbiguous(text: string): void {
  const open: Set<string>[] = []
  let values = 1
  let string = ''
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (character === '"') {
      const end = endOfString(text, index)
      string = text.slice(index, end)
      index = end - 1
    } else if (character === ',') {
      if (++values > MAXIMUM_VALUES) throw new Error(`it has more than ${MAXIMUM_VALUES} values`)
    } else if (character === '{' || character === '[') {
      if (open.length === MAXIMUM_DEPTH) throw new Error(`it is nested deeper than ${MAXIMUM_DEPTH} levels`)
      open.push(new Set())
    } else if (character === '}' || character === ']') {
      open.pop()
    } else if (character === ':') {
      const name: string = string.includes('\\') ? JSON.parse(string) : string.slice(1, -1)
      if (open.at(-1)?.has(name))
        throw new Error(`it has two members named ${JSON.stringify(name.slice(0, 100))}`)
      open.at(-1)?.add(name)
    }
  }
}

/** The index after the closing quote. */
function endOfString(text: string, start: number): number {
  let index = start + 1
  while (index < text.length && text[index] !== '"') index += text[index] === '\\' ? 2 : 1
  return index + 1
}
