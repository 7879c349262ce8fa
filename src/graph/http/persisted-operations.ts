import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { type GraphQLSchema, parse, validate } from 'graphql'

export interface PersistedOperations {
  /** By name, in alphabetical order. */
  readonly documents: ReadonlyMap<string, string>
  /**
   * The text of an operation by its name, or by `sha256:` and the hexadecimal hash of its text
   * (GraphQL over HTTP, appendix A: custom and prefixed document identifiers).
   */
  find(identifier: string): string | undefined
}

/**
 * Reads the operations of a folder, if any. Each `.graphql` file has one operation, named after the file.
 *
 * @throws {Error} if the folder cannot be read, or an operation does not fit the schema
 */
export async function readPersistedOperations(
  schema: GraphQLSchema,
  folder: string | undefined,
): Promise<PersistedOperations> {
  const names = folder === undefined ? [] : (await readdir(folder)).sort()
  const documents = new Map<string, string>()
  for (const name of names.filter((name) => extname(name) === '.graphql')) {
    const file = join(folder as string, name)
    const text = await readFile(file, 'utf8')
    const [problem] = problemsOf(schema, text)
    if (problem) throw new Error(`The operation in ${file} does not fit the schema: ${problem.message}`)
    documents.set(basename(name, '.graphql'), text)
  }
  const hashes = new Map([...documents.values()].map((text) => [`sha256:${hash('sha256', text)}`, text]))
  return { documents, find: (identifier) => documents.get(identifier) ?? hashes.get(identifier) }
}

function problemsOf(schema: GraphQLSchema, text: string): readonly Error[] {
  try {
    return validate(schema, parse(text))
  } catch (error) {
    return [error as Error]
  }
}
