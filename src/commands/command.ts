import { DatabaseRefusedError } from '../database/refused.ts'
import { DomainError } from '../domain/model/errors.ts'
import { loadEnvironment, readSettings, type Settings, SettingsError } from '../settings.ts'
import { ArgumentsError } from './arguments.ts'

/**
 * Runs a command of the command line: exit status 0, or 1 with a message on standard error when the
 * settings, the database or a resource are refused, or 2 when the arguments are wrong. Anything else is a fault and
 * shows its stack.
 */
export async function runCommand(command: () => Promise<void>): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe)
  try {
    loadEnvironment()
    await command()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const status = isArgumentError(error) ? 2 : isRefusal(error) ? 1 : undefined
    if (status === undefined) throw error
    console.error(error.message)
    process.exitCode = status
  }
}

/** The settings for a command that only needs the database: it does without what production requires. */
export function databaseSettings(): Settings {
  const { JWT_SECRET, JWT_JWKS_URL, NODE_ENV, ...environment } = process.env
  return readSettings(environment)
}

/** The reader of the output has had enough, as in `| head`; the work and its exit status still count. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}

function isRefusal(error: Error): boolean {
  return [DatabaseRefusedError, SettingsError, DomainError].some((kind) => error instanceof kind)
}

/** What a command says of its arguments, and what `parseArgs` throws. */
function isArgumentError(error: Error): boolean {
  if (error instanceof ArgumentsError) return true
  return 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
}
