import secureJson from 'secure-json-parse'
import { DomainError } from '../../model/errors.ts'

/** The maximum size of a JSON text: a request body, or one line of an import. */
export const MAXIMUM_JSON_BYTES = 1024 * 1024

/** Members and elements. A megabyte of them takes ten times as long to parse as one string. */
const MAXIMUM_VALUES = 10_000

/**
 * Decodes and parses a JSON text (RFC 8259): valid UTF-8, no duplicate members, no `__proto__` or `constructor`, at most
 * 64 levels and 10,000 values.
 *
 * @param subject the subject of error messages: `The body`
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
const COLON = ':'.charCodeAt(0)
const OPEN_BRACE = '{'.charCodeAt(0)
const CLOSE_BRACE = '}'.charCodeAt(0)
const OPEN_BRACKET = '['.charCodeAt(0)
const CLOSE_BRACKET = ']'.charCodeAt(0)

/** Counts the commas between values. In UTF-8, no other character contains these bytes. */
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
  return new DomainError('MALFORMED_JSON', `${subject} is not acceptable JSON: ${problem}.`)
}

const MAXIMUM_DEPTH = 64

/**
 * Why a JSON text is ambiguous or too deep, as the end of a sentence; undefined if it is neither. Parsers differ on
 * which of two duplicate members counts (RFC 8259 §4), so two programs can read one body differently.
 *
 * @param text well-formed JSON
 */
function ambiguity(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = []
  let string = ''
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index)
    if (character === QUOTE) {
      const end = endOfString(text, index)
      string = text.slice(index, end)
      index = end - 1
    } else if (character === OPEN_BRACE || character === OPEN_BRACKET) {
      if (open.length === MAXIMUM_DEPTH) return `it is nested deeper than ${MAXIMUM_DEPTH} levels`
      open.push(character === OPEN_BRACE ? new Set() : undefined)
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) {
      open.pop()
    } else if (character === COLON) {
      const name: string = string.includes('\\') ? JSON.parse(string) : string.slice(1, -1)
      const names = open.at(-1)
      if (names?.has(name)) return `it has two members named ${JSON.stringify(name.slice(0, 100))}`
      names?.add(name)
    }
  }
  return undefined
}

/** The index after the closing quote. */
function endOfString(text: string, start: number): number {
  let index = start + 1
  for (let character = text.charCodeAt(index); character !== QUOTE; character = text.charCodeAt(index)) {
    index += character === BACKSLASH ? 2 : 1
  }
  return index + 1
}
