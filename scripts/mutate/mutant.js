// @ts-check

/**
 * A small fault: a piece of text replaced by another one.
 *
 * @typedef {object} Fault
 * @property {number} start
 * @property {number} end
 * @property {string} text
 * @property {number} [from] where the piece of code that contains it begins, if its own line is not measured
 */

/**
 * A fault of a file. `copies` are other files with the same text. A test that executes `executedLine` executes the fault.
 *
 * @typedef {Fault & { file: string, line: number, executedLine: number, description: string, copies?: readonly string[] }} Mutant
 */

/** @param {string} file @param {string} text @param {Fault} fault @returns {Mutant} */
export function describe(file, text, fault) {
  const lineAt = (/** @type {number} */ offset) => text.slice(0, offset).split('\n').length
  const lines = { line: lineAt(fault.start), executedLine: lineAt(fault.from ?? fault.start) }
  const inOneLine = (/** @type {string} */ piece) => piece.replace(/\s+/g, ' ').replace(/,? ([)}\]])/g, ' $1')
  const [before, after] = [inOneLine(text.slice(fault.start, fault.end)), inOneLine(fault.text)]
  let same = 0
  while (same < before.length && before[same] === after[same]) same++
  const shorten = (/** @type {string} */ piece) => piece.slice(Math.max(same - 20, 0)).slice(0, 70)
  return { ...fault, file, ...lines, description: `${shorten(before)} → ${shorten(after) || 'nothing'}` }
}
