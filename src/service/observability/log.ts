import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import pino, { type DestinationStream } from 'pino'

const END_MILLISECONDS = 1_000

type Log = ReturnType<typeof openJsonLog>

/** The log goes to standard output: readable lines on a terminal, JSON elsewhere. */
export async function openLog(level: string): Promise<Log> {
  return process.stdout.isTTY ? openReadableLog(level, process.stdout) : openJsonLog(level)
}

/**
 * Writes asynchronously. With Pino's default, the process sleeps while the pipe is full: under overload a fifth of the
 * time, and forever if the reader is blocked. Many lines are written at once, because each write wakes another thread (with
 * 4 KB, 6 % of the processor time of GET one).
 */
function openJsonLog(level: string) {
  const destination = pino.destination({
    dest: 1,
    sync: false,
    minLength: 16_000,
    periodicFlush: 100,
    // Lines are dropped while more characters than this are unread.
    maxLength: 2 ** 21,
  })
  return {
    logger: pino({ level }, destination),
    /** Waits at most a second for the reader. `flush` would leave out what is logged while a write is in progress. */
    async end() {
      const written = once(destination, 'close').catch(() => {})
      destination.end()
      await Promise.race([written, delay(END_MILLISECONDS)])
      destination.destroy()
    },
    abandon: () => destination.destroy(),
  }
}

/** One line for each request and event, written immediately. */
export async function openReadableLog(
  level: string,
  output: DestinationStream & { hasColors?(): boolean },
): Promise<Log> {
  const { default: pretty } = await import('pino-pretty')
  const lines = pretty.prettyFactory({
    colorize: output.hasColors?.() === true,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname,method,route,path,status,seconds,requestId,traceId,aborted',
    singleLine: true,
    messageFormat: (entry, messageKey) => describe(entry, String(entry[messageKey])),
  })
  const write = (line: string) => void output.write(lines(JSON.parse(line)) ?? line)
  return { logger: pino({ level }, { write }), end: async () => {}, abandon: () => {} }
}

/** A request is shown as `GET /api/v1/species/:id 200 12 ms`, anything else as its message. */
function describe(entry: Record<string, unknown>, message: string): string {
  const { method, route, path, status, seconds, requestId, aborted } = entry
  if (message !== 'request') return requestId === undefined ? message : `${message} (request ${requestId})`
  const duration = `${Math.round(Number(seconds) * 1000)} ms`
  return `${method} ${route ?? `${path} (no route)`} ${status} ${duration}${aborted ? ', client disconnected' : ''}`
}
