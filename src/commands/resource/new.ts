import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Resource } from '../../domain/model/resource.ts'
import { ArgumentsError, CommandError } from '../command.ts'
import { withEntry } from './list-entry.ts'
import { newResourceProblems } from './new-problems.ts'
import { definitionText, type NewResource, singularOf } from './scaffold.ts'
import { testText } from './scaffold-test.ts'

/** The arguments of `new`. */
export interface NewArguments {
  readonly path: string
  readonly kind?: string | undefined
  readonly owner?: string | undefined
  readonly name?: string | undefined
}

/** The folders of the sources: of the definitions with their list, and of the tests. */
export interface SourceFolders {
  readonly definitions: string
  readonly tests: string
}

const KINDS = ['collection', 'owned', 'singleton'] as const

/**
 * Adds a resource: its definition, its entry in the list, and a test. Everything is checked before anything is
 * written.
 *
 * @returns the paths of the files that it wrote
 * @throws {ArgumentsError} for invalid arguments, names that are taken, and files that exist
 */
export async function addResource(
  given: NewArguments,
  resources: readonly Resource[],
  { definitions, tests }: SourceFolders,
): Promise<string[]> {
  const resource = parse(given, resources)
  const problems = newResourceProblems(resource, resources)
  if (problems.length > 0) throw new ArgumentsError(problems.join('\n'))
  const file = `${resource.path}.ts`
  const [definition, list, test] = [
    join(definitions, file),
    join(definitions, 'index.ts'),
    join(tests, `${resource.path}.test.ts`),
  ]
  for (const path of [definition, test])
    if (existsSync(path)) throw new CommandError(`${path} exists already`)
  const entries = withEntry(await readFile(list, 'utf8'), resource.path)
  await writeFile(definition, definitionText(resource), { flag: 'wx' })
  await writeFile(test, testText(resource), { flag: 'wx' })
  await writeFile(list, entries)
  return [definition, test, list]
}

function parse(
  { path, kind = 'collection', owner, name }: NewArguments,
  resources: readonly Resource[],
): NewResource {
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
