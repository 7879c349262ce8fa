import { setTimeout as delay } from 'node:timers/promises'
import pino, { type Logger } from 'pino'

/** The log of the process, on its standard output. */
export interface Log {
  readonly logger: Logger
  /** Flushes the log, waiting at most a second for its reader, and closes it. */
  end(): Promise<void>
  /** Closes the log without flushing it. */
  abandon(): void
}

/** Log lines are dropped while more characters than this are unread. */
const BACKLOG_CHARACTERS = 2 ** 21
const END_MILLISECONDS = 1_000

/**
 * Opens the log with asynchronous writes. With pino's default synchronous writes the process sleeps while the
 * pipe is full: under overload that took a fifth of the time, and a blocked reader would block the service.
 */
export function openLog(level: string): Log {
  const destination = pino.destination({ dest: 1, sync: false, maxLength: BACKLOG_CHARACTERS })
  return {
    logger: pino({ level }, destination),
    async end() {
      const flushed = new Promise((resolve) => destination.flush(resolve))
      await Promise.race([flushed, delay(END_MILLISECONDS)])
      destination.destroy()
    },
    abandon: () => destination.destroy(),
  }
}
