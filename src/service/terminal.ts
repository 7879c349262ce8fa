import type { WriteStream } from 'node:tty'
import { styleText } from 'node:util'

/** Styles a text if the stream is a terminal that shows colours, and NO_COLOR is not set. */
export function styled(stream: WriteStream, style: 'bold' | 'green' | 'red' | 'yellow', text: string) {
  return stream.isTTY && stream.hasColors() ? styleText(style, text, { validateStream: false }) : text
}
