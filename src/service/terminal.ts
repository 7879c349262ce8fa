import { styleText } from 'node:util'

type Format = Parameters<typeof styleText>[0]

export interface Output {
  readonly isTTY?: boolean
  hasColors?(): boolean
}

/** Only a terminal with colours gets them, and not with NO_COLOR, which `hasColors` checks. */
export function hasColours(output: Output): boolean {
  return output.isTTY === true && output.hasColors?.() === true
}

export function styled(output: Output, format: Format, text: string): string {
  return hasColours(output) ? styleText(format, text, { validateStream: false }) : text
}
