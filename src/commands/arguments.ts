import type { Resource } from '../domain/model/resource.ts'
import { resources } from '../domain/resources/index.ts'

/** The arguments of a command are wrong: exit status 2, with this message. */
export class ArgumentsError extends Error {
  override name = 'ArgumentsError'
}

/**
 * The resource that an argument names by its path.
 *
 * @throws {ArgumentsError} when there is none of that name
 */
export function resourceNamed(path: string | undefined): Resource {
  const resource = resources.find((candidate) => candidate.path === path)
  if (resource) return resource
  const known = resources.map((candidate) => candidate.path).join(', ')
  throw new ArgumentsError(
    path === undefined ? `Name a collection: ${known}` : `There is no collection ${path}; there are ${known}`,
  )
}
