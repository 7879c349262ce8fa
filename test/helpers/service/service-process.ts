import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Owner } from '../database/database.ts'
import { accessToken } from './access-token.ts'

const SECRET = 'only the tests know this secret of theirs'

/** The main module of the service. */
export const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url))

const LAST_LINES_MILLISECONDS = 5_000

/** How Node compiles the embedded database: as in the process of the test (`nodeArguments` in ava.config.js). */
export const ENGINE_OPTIONS = process.execArgv.filter((option) => option.startsWith('--wasm'))

/** A token for processes started here, which may do everything. */
export const PROCESS_TOKEN = processToken('tester')

/** The same for a caller of that name. */
export function processToken(subject: string, claims: Readonly<Record<string, unknown>> = {}): string {
  return accessToken({ secret: SECRET, scope: '*:read *:write', subject, claims })
}

/** The service as a process of its own. */
export interface ServiceProcess {
  /** Where it listens; rejects when it ends before it does. */
  readonly origin: Promise<string>
  /** Everything it has printed. */
  readonly output: () => string
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
  readonly child: ChildProcess
  kill(signal: NodeJS.Signals): void
}

/**
 * Starts the service on a free port; it is gone at teardown. The requests of one caller race like those of several.
 *
 * @param command what to run instead of the main module, as in `['npm', 'start']`
 */
export function startProcess(
  environment: NodeJS.ProcessEnv,
  owner: Owner,
  command: readonly string[] = [process.execPath, ...ENGINE_OPTIONS, MAIN],
): ServiceProcess {
  const { DATABASE_URL, DATA_DIR, ...inherited } = process.env
  const own = {
    PORT: '0',
    HOST: '127.0.0.1',
    JWT_SECRET: SECRET,
    CALLER_SHARE: '10000',
    DATABASE_START_SECONDS: '60',
  }
  const env = { ...inherited, ...own, ...environment }
  const [file, ...parameters] = command as [string, ...string[]]
  const child = spawn(file, parameters, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = once(child, 'close')
  const exited = once(child, 'exit').then(async ([code, signal]) => {
    // Its last lines may still be on their way; a process that it started may keep the pipe open.
    await Promise.race([closed, delay(LAST_LINES_MILLISECONDS, undefined, { ref: false })])
    // After a long turn of the event loop, the time is up before what has arrived is read.
    await nextTurn()
    return { code, signal }
  })
  owner.teardown(async () => {
    child.kill('SIGKILL')
    await exited
  })
  let output = ''
  const origin = new Promise<string>((resolve, reject) => {
    const collect = (chunk: Buffer) => {
      output += chunk
      const address = /"origin":"([^"]+)"/.exec(output)?.[1]
      if (address) resolve(address)
      // One line per request adds up in a long run.
      if (address && output.length > 100_000) output = output.slice(-50_000)
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    exited.then(({ code, signal }) => reject(new Error(`it ended (${code ?? signal}): ${output}`)))
  })
  origin.catch(() => {})
  return { origin, exited, child, output: () => output, kill: (signal) => void child.kill(signal) }
}
