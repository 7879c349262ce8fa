import { styleText } from 'node:util'

type Format = Parameters<typeof styleText>[0]

/** A stream that may be a terminal. */
export interface Output {
  readonly isTTY?: boolean
  hasColors?(): boolean
}

/** Whether texts for this output get colours: on a terminal that has them, unless NO_COLOR is set. */
export function hasColours(output: Output): boolean {
  return output.isTTY === true && output.hasColors?.() === true
}

/** The text in this format, where the output has colours. */
export function styled(output: Output, format: Format, text: string): string {
  return hasColours(output) ? styleText(format, text, { validateStream: false }) : text
}
