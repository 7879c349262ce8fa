import { existsSync } from 'node:fs'
import { extname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { PrismaClient } from './database/generated/client.ts'
import { definitionProblems } from './domain/model/definition-problems.ts'
import type { Domain } from './domain/model/domain.ts'

/** Where the parts of a domain are: absolute paths. */
export interface DomainFolder {
  /** The module that exports the definitions as `domain`, in the form that this process loads. */
  readonly definitions: string
  /** Prisma's schema. */
  readonly schema: string
  /** The folder of the migrations. */
  readonly migrations: string
  /** The module of Prisma's generated client, in the form that this process loads. */
  readonly client: string
  /** The folder of persisted GraphQL operations; it may be absent. */
  readonly operations: string
}

/** The exports of the client that Prisma generates for the models of a domain. */
export interface ClientModule {
  readonly PrismaClient: typeof PrismaClient
  readonly Prisma: { readonly ModelName: Readonly<Record<string, string>> }
}

/** The domain cannot be served. The message has one line for each problem; print it without a stack trace. */
export class DomainRefusedError extends Error {
  override name = 'DomainRefusedError'

  constructor(place: string, problems: readonly string[], options?: ErrorOptions) {
    const lines = problems.map((problem) => `  ${problem}`)
    super(`The domain in ${place} cannot be served:\n${lines.join('\n')}`, options)
  }
}

/** This process runs TypeScript (`.ts`) or the build (`.js`), and loads the same form of a domain. */
const EXTENSION = extname(import.meta.url)

/** The folder with `prisma` and `operations`: the same relative path from src and from dist. */
const PROJECT = fileURLToPath(new URL('..', import.meta.url))

/**
 * The parts of the domain in a folder: `index.ts`, `prisma/schema.prisma`, `prisma/migrations`, `operations`, the
 * client that Prisma generates in `generated/client`, and the build in `dist`.
 *
 * @param path the setting DOMAIN; without it, the built-in domain
 */
export function domainFolder(path?: string): DomainFolder {
  const [root, modules, definitions, client] =
    path === undefined
      ? ([PROJECT, fileURLToPath(new URL('.', import.meta.url)), BUILT_IN, BUILT_IN_CLIENT] as const)
      : ([
          resolve(path),
          join(path, EXTENSION === '.ts' ? '' : 'dist'),
          'index',
          'generated/client/client',
        ] as const)
  return {
    definitions: resolve(modules, definitions + EXTENSION),
    schema: join(root, 'prisma/schema.prisma'),
    migrations: join(root, 'prisma/migrations'),
    client: resolve(modules, client + EXTENSION),
    operations: join(root, 'operations'),
  }
}

const BUILT_IN = 'domain/resources/index'
const BUILT_IN_CLIENT = 'database/generated/client'

/**
 * Loads the definitions of a domain.
 *
 * @throws {DomainRefusedError} if the module is missing or not valid, with all problems of the definitions
 */
export async function loadDefinitions({ definitions }: DomainFolder): Promise<Domain> {
  const { domain } = await importModule(definitions, 'definitions', BUILD_ADVICE)
  const problems = definitionProblems(domain)
  if (problems.length > 0) throw new DomainRefusedError(definitions, problems)
  return domain as Domain
}

/**
 * Loads the Prisma client of a domain.
 *
 * @throws {DomainRefusedError} if the module is missing, or lacks the model of a resource
 */
export async function loadClient({ client }: DomainFolder, { resources }: Domain): Promise<ClientModule> {
  const module = (await importModule(client, 'Prisma client', MIGRATE_ADVICE)) as unknown as ClientModule
  const problems = resources
    .filter(({ name }) => !(name in module.Prisma.ModelName))
    .map(({ name }) => `The Prisma client has no model ${name}; ${MIGRATE_ADVICE}`)
  if (problems.length > 0) throw new DomainRefusedError(client, problems)
  return module
}

const BUILD_ADVICE = 'build it with `npm run build`'
const MIGRATE_ADVICE = 'run `npm run resource -- migrate`, then `npm run build`'

async function importModule(path: string, name: string, advice: string): Promise<Record<string, unknown>> {
  if (!existsSync(path)) throw new DomainRefusedError(path, [`There are no ${name} here; ${advice}`])
  try {
    return await import(pathToFileURL(path).href)
  } catch (cause) {
    throw new DomainRefusedError(path, [`The ${name} cannot be loaded: ${(cause as Error).message}`], {
      cause,
    })
  }
}
