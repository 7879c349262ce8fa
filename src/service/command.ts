import { type ParseArgsConfig, parseArgs } from 'node:util'
import { DatabaseRefusedError } from '../database/connection.ts'
import type { Domain } from '../model/definition/domain.ts'
import type { Resource } from '../model/definition/resource.ts'
import { DomainError } from '../model/errors.ts'
import { DefinitionError } from '../model/problems/definition-problems.ts'
import { type Configuration, loadConfiguration } from './settings/configuration.ts'
import { SettingsError } from './settings/settings.ts'
import { styled } from './terminal.ts'

/** Invalid arguments: the message is printed and the exit status is 2. */
export class ArgumentsError extends Error {}

/** A failure that is not a fault of the program: the message is printed and the exit status is 1. */
export class CommandError extends Error {}

type Arguments<Config extends ParseArgsConfig> = ReturnType<typeof parseArgs<Config>>

/**
 * Runs a command, or prints its usage for `--help`. Refused settings, databases, resources or files print a message to
 * standard error, with exit status 1; invalid arguments do so with 2. Any other error is thrown.
 */
export async function runCommand<const Config extends ParseArgsConfig>(
  usage: string,
  config: Config,
  command: (parsed: Arguments<Config>) => Promise<void>,
): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', endOutput)
  try {
    const help = { type: 'boolean', short: 'h' } as const
    const parsed = parseArgs({ ...config, options: { ...config.options, help } }) as Arguments<Config>
    if ('help' in parsed.values) console.log(usage)
    else await command(parsed)
  } catch (error) {
    const status = statusOf(error)
    if (status === undefined) throw error
    console.error(styled(process.stderr, 'red', (error as Error).message))
    if (status === 2) console.error('See --help for the usage.')
    process.exitCode = status
  }
}

function statusOf(error: unknown): 1 | 2 | undefined {
  if (!(error instanceof Error)) return undefined
  const { code } = error as NodeJS.ErrnoException
  if (error instanceof ArgumentsError || String(code).startsWith('ERR_PARSE_ARGS')) return 2
  const refusals = [CommandError, DatabaseRefusedError, DefinitionError, SettingsError, DomainError]
  // Including failed system calls, such as for a file that cannot be written.
  return 'syscall' in error || refusals.some((refusal) => error instanceof refusal) ? 1 : undefined
}

/** For commands that only need the database: works without the token settings that production requires. */
export function databaseConfiguration(): Promise<Configuration> {
  return loadConfiguration('JWT_SECRET', 'JWT_JWKS_URL', 'NODE_ENV')
}

/** @throws {ArgumentsError} for an unknown path */
export function resourceNamed(path: string | undefined, { resources }: Pick<Domain, 'resources'>): Resource {
  const resource = resources.find((candidate) => candidate.path === path)
  if (resource) return resource
  const problem = path === undefined ? 'Missing collection' : `Unknown collection ${path}`
  throw new ArgumentsError(
    `${problem}. Collections: ${resources.map((resource) => resource.path).join(', ')}`,
  )
}

/** If the reader closes the output early, as `| head` does, the command continues and its exit status counts. */
function endOutput({ code, message }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') return
  console.error(`Cannot write the output: ${message}`)
  process.exit(1)
}
