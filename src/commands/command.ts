import { type ParseArgsConfig, parseArgs } from 'node:util'
import { DatabaseRefusedError } from '../database/refused.ts'
import { DomainError } from '../domain/model/errors.ts'
import type { Resource } from '../domain/model/resource.ts'
import { resources } from '../domain/resources/index.ts'
import { loadEnvironment, readSettings, type Settings, SettingsError } from '../settings.ts'

/** Invalid arguments: exit status 2, with this message. */
export class ArgumentsError extends Error {
  override name = 'ArgumentsError'
}

type Arguments<Config extends ParseArgsConfig> = ReturnType<typeof parseArgs<Config>>

/**
 * Runs a command of the command line; `--help` prints its usage. Exit status 0; 1 with a message on standard
 * error when the settings, the database or a resource are refused; 2 for invalid arguments. Any other error
 * shows its stack.
 */
export async function runCommand<const Config extends ParseArgsConfig>(
  usage: string,
  config: Config,
  command: (given: Arguments<Config>) => Promise<void>,
): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe)
  try {
    loadEnvironment()
    const help = { type: 'boolean', short: 'h' } as const
    const given = parseArgs({ ...config, options: { ...config.options, help } }) as Arguments<Config>
    if ('help' in given.values) console.log(usage)
    else await command(given)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const status = isArgumentsError(error) ? 2 : isRefusal(error) ? 1 : undefined
    if (status === undefined) throw error
    console.error(error.message)
    process.exitCode = status
  }
}

/** The settings for a command that only needs the database: those that production requires may be missing. */
export function databaseSettings(): Settings {
  const { JWT_SECRET, JWT_JWKS_URL, NODE_ENV, ...environment } = process.env
  return readSettings(environment)
}

/**
 * The resource with this path.
 *
 * @throws {ArgumentsError} when there is none
 */
export function resourceNamed(path: string | undefined): Resource {
  const resource = resources.find((candidate) => candidate.path === path)
  if (resource) return resource
  const problem = path === undefined ? 'Missing collection' : `Unknown collection ${path}`
  throw new ArgumentsError(`${problem}. Collections: ${resources.map((known) => known.path).join(', ')}`)
}

/** The reader closed the output early, as `| head` does; the work and its exit status still count. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}

function isRefusal(error: Error): boolean {
  return [DatabaseRefusedError, SettingsError, DomainError].some((kind) => error instanceof kind)
}

function isArgumentsError(error: Error): boolean {
  return (
    error instanceof ArgumentsError || String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS')
  )
}
