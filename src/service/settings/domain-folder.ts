import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { DatabaseUse } from '../../database/client.ts'
import type { Tables } from '../../database/database.ts'
import type { Seed } from '../../documents/openapi/seeds.ts'
import type { Domain } from '../../model/definition/domain.ts'
import type { Resource } from '../../model/definition/resource.ts'
import { DefinitionError, definitionProblems } from '../../model/problems/definition-problems.ts'
import { KEPT_COLUMNS } from '../../model/rows/row.ts'
import type { Contact } from '../../rest/urls.ts'

export interface LocatedDomain extends Domain {
  readonly folder: DomainFolder
  /** As its package.json names it: an expression of SPDX. */
  readonly license?: string | undefined
  /** The author that its package.json names. */
  readonly contact?: Contact | undefined
}

export type DomainFolder = Readonly<ReturnType<typeof domainFolder>>

/** The relative paths are the same from src and from dist. */
const PROJECT = fileURLToPath(new URL('../../..', import.meta.url))
const MODULES = fileURLToPath(new URL('../..', import.meta.url))

/** Absolute paths. Without `path`, the setting DOMAIN, those of the built-in domain. */
export function domainFolder(path?: string) {
  const root = path === undefined ? PROJECT : resolve(path)
  const operations = join(root, 'operations')
  return {
    /** The built module that exports the definitions as `domain`. */
    definitions:
      path === undefined ? join(MODULES, 'domain/resources/index.js') : join(root, 'dist/index.js'),
    schema: join(root, 'prisma/schema.prisma'),
    migrations: join(root, 'prisma/migrations'),
    /** The built module of the generated Prisma client. */
    client:
      path === undefined
        ? join(MODULES, 'database/generated/client.js')
        : join(root, 'dist/generated/client/client.js'),
    /** The folder of persisted GraphQL operations, if it exists. */
    operations: existsSync(operations) ? operations : undefined,
    manifest: join(root, 'package.json'),
    /** The file with the resources that `npx halgraph seed` adds; it may not exist. */
    seed: join(root, 'prisma/seed/catalogue.json'),
  }
}

/** @throws {DefinitionError} if the module is missing or invalid, with all problems of the definitions */
export async function loadDefinitions(folder: DomainFolder): Promise<LocatedDomain> {
  const { definitions } = folder
  const { domain } = await importModule(definitions, 'module of definitions', BUILD_ADVICE)
  const problems = definitionProblems(domain)
  if (problems.length > 0) throw new DefinitionError(problems, definitions)
  return { ...(domain as Domain), folder, ...(await readManifest(folder)) }
}

async function readManifest({ manifest }: DomainFolder) {
  if (!existsSync(manifest)) return {}
  const { license, author } = JSON.parse(await readFile(manifest, 'utf8'))
  return { license: licenseOf(license), contact: contactOf(author) }
}

/** Undefined without a licence of SPDX. */
function licenseOf(license: unknown): string | undefined {
  const isExpression = typeof license === 'string' && !/^(?:UNLICENSED$|SEE LICENSE IN )/.test(license)
  return isExpression ? license : undefined
}

/** npm takes an object, or a text such as `Ada <ada@example.org> (https://example.org)`. */
function contactOf(author: unknown): Contact | undefined {
  const parts =
    typeof author === 'string' ? /^([^<(]*)(?:<([^>]*)>)?[^(]*(?:\(([^)]*)\))?/.exec(author) : null
  const [name, email, url] =
    parts?.slice(1) ?? ['name', 'email', 'url'].map((member) => Object(author)[member])
  const texts = Object.entries({ name, email, url }).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1].trim() !== '',
  )
  return texts.length > 0 ? Object.fromEntries(texts.map(([key, text]) => [key, text.trim()])) : undefined
}

/** @throws {DefinitionError} if the Prisma client is missing, or its models differ from the definitions */
export async function loadTables({ resources, folder }: LocatedDomain): Promise<Tables> {
  const { client, migrations } = folder
  const { PrismaClient, Prisma } = await importModule(client, 'Prisma client', MIGRATE_ADVICE)
  const problems = resources.flatMap((resource) => modelProblems(resource, Prisma as object))
  if (problems.length > 0) throw new DefinitionError([...problems, MIGRATE_ADVICE], client)
  return { PrismaClient: PrismaClient as DatabaseUse['PrismaClient'], migrations }
}

/** @param prisma the generated namespace `Prisma` */
function modelProblems({ name, leaves }: Resource, prisma: object): string[] {
  const model = (prisma as Record<string, object>)[`${name}ScalarFieldEnum`]
  if (!model) return [`The Prisma schema has no model ${name}`]
  const columns = [...leaves.map(({ column }) => column), ...KEPT_COLUMNS]
  const fields = Object.keys(model)
  const lacking = columns.filter((column) => !fields.includes(column))
  const unknown = fields.filter((field) => !columns.includes(field))
  return [
    ...lacking.map((column) => `model ${name} lacks the field ${column}`),
    ...unknown.map((field) => `model ${name} has an unknown field ${field}`),
  ]
}

/**
 * The entries of the example catalogue, which may have problems; empty without one.
 *
 * @throws {DefinitionError} if the file is not a JSON array
 */
export async function readSeeds({ seed }: DomainFolder): Promise<Seed[]> {
  if (!existsSync(seed)) return []
  try {
    const seeds: unknown = JSON.parse(await readFile(seed, 'utf8'))
    if (Array.isArray(seeds)) return seeds
    throw new Error('it is not an array')
  } catch (cause) {
    throw new DefinitionError([`The catalogue is not a JSON array: ${(cause as Error).message}`], seed, {
      cause,
    })
  }
}

const BUILD_ADVICE = 'build it with `npm run build`'
const MIGRATE_ADVICE = 'run `npx halgraph resource migrate`, then `npm run build`'

async function importModule(path: string, name: string, advice: string): Promise<Record<string, unknown>> {
  if (!existsSync(path)) throw new DefinitionError([`The ${name} is missing; ${advice}`], path)
  try {
    return await import(pathToFileURL(path).href)
  } catch (cause) {
    throw new DefinitionError([`The ${name} cannot be loaded: ${(cause as Error).message}`], path, { cause })
  }
}
