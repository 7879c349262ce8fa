import secureJson from 'secure-json-parse'
import { DomainError } from '../../domain/model/errors.ts'
import { ambiguity } from './json-ambiguity.ts'

/** The size of the largest JSON text that is accepted: a request body, or one line of an import. */
export const MAXIMUM_JSON_BYTES = 1024 * 1024

/** Members and elements of a JSON text. To parse a megabyte of them takes ten times as long as one text. */
const MAXIMUM_VALUES = 10_000

/**
 * Decodes and parses a JSON text by the rules of every request body (RFC 8259): valid UTF-8, no member
 * twice in one object, no `__proto__` or `constructor`, at most 64 levels and 10,000 values.
 *
 * @param subject what the text is, as the subject of the error message: `The body`
 * @throws {DomainError} MALFORMED_JSON (400)
 */
export function parseStrictJson(bytes: Uint8Array, subject: string): unknown {
  if (hasManyValues(bytes)) throw malformed(subject, `it has more than ${MAXIMUM_VALUES} values`)
  const text = decode(bytes, subject)
  const value = parsed(text, subject)
  const problem = ambiguity(text)
  if (problem) throw malformed(subject, problem)
  return value
}

const QUOTE = '"'.charCodeAt(0)
const BACKSLASH = '\\'.charCodeAt(0)
const COMMA = ','.charCodeAt(0)

/** Counts the commas between values. In UTF-8 no byte of another character looks like one of these. */
function hasManyValues(bytes: Uint8Array): boolean {
  let commas = 0
  let isInString = false
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]
    if (byte === QUOTE) isInString = !isInString
    else if (byte === BACKSLASH) index++
    else if (byte === COMMA && !isInString && ++commas >= MAXIMUM_VALUES) return true
  }
  return false
}

function decode(bytes: Uint8Array, subject: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new DomainError('MALFORMED_JSON', `${subject} is not valid UTF-8.`)
  }
}

function parsed(text: string, subject: string): unknown {
  try {
    return secureJson.parse(text, { protoAction: 'error', constructorAction: 'error' })
  } catch (error) {
    throw malformed(subject, (error as Error).message)
  }
}

function malformed(subject: string, problem: string): DomainError {
  return new DomainError('MALFORMED_JSON', `${subject} is not JSON that is accepted here: ${problem}.`)
}
