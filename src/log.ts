import { setTimeout as delay } from 'node:timers/promises'
import pino, { type Logger } from 'pino'

/** The log of the process, on its standard output. */
export interface Log {
  readonly logger: Logger
  /** Writes what is left, if anybody takes it; nothing can be logged after that. */
  end(): Promise<void>
  /** Writes nothing any more, for who cannot wait. */
  abandon(): void
}

/** Beyond so many characters that nobody has taken yet, log lines are dropped. */
const BACKLOG_CHARACTERS = 2 ** 21
const END_MILLISECONDS = 1_000

/**
 * Writes log lines while other work goes on. By itself pino writes each line at once, and sleeps while
 * nobody takes them from the other end of the pipe: under overload the service spent a fifth of its time so,
 * and a reader that is stuck would have stopped it.
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
