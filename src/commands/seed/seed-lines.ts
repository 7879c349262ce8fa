import { LineCounter, parseDocument } from 'yaml'

/** The line of an entry, or of what is at a path in it. */
export type LineOf = (index: number, path?: readonly string[]) => number | undefined

/** The lines of a catalogue. JSON is YAML, whose parser keeps the places of values. */
export function seedLines(text: string): LineOf {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter })
  const lineAt = (path: readonly (string | number)[]) => {
    const node = document.getIn(path, true) as { readonly range?: readonly number[] } | undefined
    return node?.range && lineCounter.linePos(node.range[0] as number).line
  }
  return (index, path = []) => lineAt([index, ...path]) ?? lineAt([index])
}
