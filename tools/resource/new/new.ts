import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withUnixLines } from '../../../src/database/migrations/migration-files.ts'
import type { Domain } from '../../../src/model/definition/domain.ts'
import { singularOf } from '../../../src/model/definition/labels.ts'
import type { Resource } from '../../../src/model/definition/resource.ts'
import { ArgumentsError, CommandError } from '../../../src/service/command.ts'
import { withEntry } from './list-entry.ts'
import { newResourceProblems } from './problems.ts'
import { definitionText } from './scaffold.ts'
import { testText } from './scaffold-test.ts'

export interface NewArguments {
  readonly path: string
  readonly kind?: string | undefined
  readonly owner?: string | undefined
  readonly name?: string | undefined
}

export interface SourceFolders {
  /** The folder of the definitions and of `index.ts`, which lists them. */
  readonly definitions: string
  /** The import specifier of the module with `defineResource`. */
  readonly module: string
  /** The folder of the tests, if there is one. */
  readonly tests?: string
}

const KINDS = ['collection', 'owned', 'singleton'] as const

/**
 * Adds a resource: its definition, its entry in the list, and a test. Writes nothing if there is a problem.
 *
 * @returns the paths of the files that it wrote
 * @throws {ArgumentsError} for invalid arguments, names that are taken, and files that exist
 */
export async function addResource(
  given: NewArguments,
  domain: Domain,
  { definitions, module, tests }: SourceFolders,
): Promise<string[]> {
  const resource = parse(given, domain.resources)
  const problems = newResourceProblems(resource, domain)
  if (problems.length > 0) throw new ArgumentsError(problems.join('\n'))
  const file = `${resource.path}.ts`
  const list = join(definitions, 'index.ts')
  const made = new Map([[join(definitions, file), definitionText(resource, module)]])
  if (tests !== undefined) made.set(join(tests, `${resource.path}.test.ts`), testText(resource))
  for (const path of made.keys()) if (existsSync(path)) throw new CommandError(`${path} already exists`)
  const entries = withEntry(withUnixLines(await readFile(list, 'utf8')), resource.path)
  for (const [path, text] of made) await writeFile(path, text, { flag: 'wx' })
  await writeFile(list, entries)
  return [...made.keys(), list]
}

function parse({ path, kind = 'collection', owner, name }: NewArguments, resources: readonly Resource[]) {
  const known = KINDS.find((candidate) => candidate === kind)
  if (!known) throw new ArgumentsError(`--kind must be one of ${KINDS.join(', ')}, not ${kind}`)
  const parent = resources.find((candidate) => candidate.path === owner)
  return {
    kind: known,
    path,
    name: name ?? singularOf(path),
    owner: owner === undefined ? undefined : { path: owner, name: parent?.name ?? '' },
  }
}
