import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { type GraphQLError, type GraphQLSchema, parse, validate } from 'graphql'

export interface PersistedOperations {
  /** By name, in alphabetical order. */
  readonly documents: ReadonlyMap<string, string>
  /**
   * The text of an operation by its name, or by `sha256:` and the hash of its text in hexadecimal
   * (GraphQL over HTTP, appendix A: custom and prefixed document identifiers).
   */
  find(identifier: string): string | undefined
}

/**
 * Reads the operations of a folder, if there is one. Each `.graphql` file has one operation, named after the file.
 *
 * @throws {Error} for a folder that cannot be read, or an operation that does not fit the schema
 */
export async function readPersistedOperations(
  schema: GraphQLSchema,
  folder: string | undefined,
): Promise<PersistedOperations> {
  const files = folder === undefined ? [] : await operationFiles(folder)
  const documents = new Map(
    await Promise.all(
      files.map(async (file) => {
        const text = await readFile(file, 'utf8')
        refuseUnfit(schema, text, file)
        return [basename(file, '.graphql'), text] as const
      }),
    ),
  )
  const hashes = new Map([...documents.values()].map((text) => [`sha256:${sha256(text)}`, text]))
  return { documents, find: (identifier) => documents.get(identifier) ?? hashes.get(identifier) }
}

async function operationFiles(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => extname(name) === '.graphql')
  return names.sort().map((name) => join(folder, name))
}

function refuseUnfit(schema: GraphQLSchema, text: string, file: string): void {
  const [problem] = problemsOf(schema, text)
  if (problem) throw new Error(`The operation in ${file} does not fit the schema: ${problem.message}`)
}

function problemsOf(schema: GraphQLSchema, text: string): readonly GraphQLError[] {
  try {
    return validate(schema, parse(text))
  } catch (error) {
    return [error as GraphQLError]
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
