import { createScanner } from 'jsonc-parser'

/** The scanner's kinds of token; it declares them in a form that is gone once compiled. */
const OPEN_BRACE = 1
const CLOSE_BRACE = 2
const OPEN_BRACKET = 3
const CLOSE_BRACKET = 4
const COLON = 6
const STRING = 10
const END = 17

const MAXIMUM_DEPTH = 64

/**
 * What makes a JSON text ambiguous or unreasonable, as the end of a sentence; undefined when nothing does.
 * Of two members with one name, parsers differ on which counts (RFC 8259 §4), so two parties can be made
 * to see different things in one body.
 *
 * @param text well-formed JSON
 */
export function ambiguity(text: string): string | undefined {
  const scanner = createScanner(text, true)
  const open: (Set<string> | undefined)[] = []
  let name: string | undefined
  for (let token: number = scanner.scan(); token !== END; token = scanner.scan()) {
    if (token === OPEN_BRACE || token === OPEN_BRACKET) {
      if (open.length === MAXIMUM_DEPTH) return `it is nested deeper than ${MAXIMUM_DEPTH} levels`
      open.push(token === OPEN_BRACE ? new Set() : undefined)
    } else if (token === CLOSE_BRACE || token === CLOSE_BRACKET) {
      open.pop()
    } else if (token === STRING) {
      name = scanner.getTokenValue()
    } else if (token === COLON && name !== undefined) {
      const names = open.at(-1)
      if (names?.has(name)) return `it has two members named ${JSON.stringify(name.slice(0, 100))}`
      names?.add(name)
    }
  }
  return undefined
}
