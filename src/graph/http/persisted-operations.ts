import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { type GraphQLSchema, parse, validate } from 'graphql'

export type PersistedOperations = Awaited<ReturnType<typeof readPersistedOperations>>

/**
 * Reads the operations of a folder, if any. Each `.graphql` file has one operation, named after the file.
 *
 * @returns the documents by name, in alphabetical order; `find` finds one by its name, or by `sha256:` and the hexadecimal
 *   hash of its text (GraphQL over HTTP, appendix A: custom and prefixed document identifiers)
 * @throws {Error} if the folder cannot be read, or an operation does not fit the schema
 */
export async function readPersistedOperations(schema: GraphQLSchema, folder: string | undefined) {
  const names = folder === undefined ? [] : (await readdir(folder)).sort()
  const documents = new Map<string, string>()
  for (const name of names.filter((name) => extname(name) === '.graphql')) {
    const file = join(folder as string, name)
    const text = await readFile(file, 'utf8')
    try {
      const [problem] = validate(schema, parse(text))
      if (problem) throw problem
    } catch (error) {
      throw new Error(`The operation in ${file} does not fit the schema: ${(error as Error).message}`)
    }
    documents.set(basename(name, '.graphql'), text)
  }
  const hashes = new Map([...documents.values()].map((text) => [`sha256:${hash('sha256', text)}`, text]))
  return { documents, find: (identifier: string) => documents.get(identifier) ?? hashes.get(identifier) }
}
