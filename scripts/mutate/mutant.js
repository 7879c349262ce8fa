// @ts-check

/**
 * A small fault: a piece of text replaced by another one.
 *
 * @typedef {object} Fault
 * @property {number} start
 * @property {number} end
 * @property {string} text
 */

/**
 * A fault of a file. `copies` are other files with the same text.
 *
 * @typedef {Fault & { file: string, line: number, description: string, copies?: readonly string[] }} Mutant
 */

/**
 * @param {string} file
 * @param {string} text
 * @param {Fault} fault
 * @returns {Mutant}
 */
export function describe(file, text, fault) {
  const line = text.slice(0, fault.start).split('\n').length
  const inOneLine = (/** @type {string} */ piece) => piece.replace(/\s+/g, ' ').replace(/,? ([)}\]])/g, ' $1')
  const [before, after] = [inOneLine(text.slice(fault.start, fault.end)), inOneLine(fault.text)]
  let same = 0
  while (same < before.length && before[same] === after[same]) same++
  const shorten = (/** @type {string} */ piece) => piece.slice(Math.max(same - 20, 0)).slice(0, 70)
  return { ...fault, file, line, description: `${shorten(before)} → ${shorten(after) || 'nothing'}` }
}
