import { setImmediate as nextTurn } from 'node:timers/promises'
import { stringifyChunked } from '@discoveryjs/json-ext'

/** After this many milliseconds, other requests are served. */
const SLICE = 5

/**
 * Serializes a result in pieces between which other requests are served. `JSON.stringify` blocks the process for up to
 * 30 ms for a response of 15 MB.
 */
export async function stringifyInPieces(result: object): Promise<string> {
  const pieces: string[] = []
  let started = performance.now()
  for (const piece of stringifyChunked(result)) {
    pieces.push(piece)
    if (performance.now() - started > SLICE) {
      await nextTurn()
      started = performance.now()
    }
  }
  return pieces.join('')
}
