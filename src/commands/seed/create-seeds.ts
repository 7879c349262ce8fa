import { type Seed, seedEntry } from '../../documents/openapi/seeds.ts'
import type { Session } from '../../domain/session/session.ts'
import type { Resource } from '../../model/definition/resource.ts'
import { DomainError, isUnavailable } from '../../model/errors.ts'
import type { ResourceKey } from '../../model/rows/identifiers.ts'
import { CommandError, resourceNamed } from '../../service/command.ts'
import { patiently } from '../shared-database.ts'
import { lineIn, placeOf, type SeedFile } from './seed-problems.ts'

/** Entries created in one transaction: more would hold its locks for longer. */
const PART_ENTRIES = 100

/**
 * Creates all entries in their order, a part of them in each transaction; existing ones stay unchanged.
 *
 * @param seeds without problems
 * @param file says where a refused one is
 * @returns the number of created resources
 * @throws {CommandError} with the first entry that a rule refuses; then none of its part is created
 */
export async function createSeeds(
  seeds: readonly Seed[],
  resources: readonly Resource[],
  session: Session,
  file?: SeedFile,
): Promise<number> {
  let created = 0
  for (let first = 0; first < seeds.length; first += PART_ENTRIES) {
    try {
      const part = seeds.slice(first, first + PART_ENTRIES).map((seed, place) => {
        const where = lineIn(file, first + place) + placeOf(seed, first + place)
        return creationOf(seed, resourceNamed(seed.collection, { resources }), where)
      })
      const mode = { isAtomic: true, isDryRun: false }
      const results = await patiently(() => session.together(mode, part))
      created += results.filter((isNew) => isNew).length
    } catch (cause) {
      if (!isUnavailable(cause) && !(cause instanceof CommandError)) throw cause
      const done = first === 0 ? 'No entry was created.' : `The first ${first} entries are there.`
      const advice = first === 0 ? '' : ' Run the same command again for the others.'
      throw new CommandError(`${done} ${(cause as Error).message}${advice}`, { cause })
    }
  }
  return created
}

/** Makes the function that creates the resource of an entry, unless it exists. */
function creationOf(seed: Seed, resource: Resource, place: string) {
  const { parentId, id, body: values } = seedEntry(seed, resource)
  const key = { parentId, id }
  return async (session: Session): Promise<boolean> => {
    const options = { unlessVersions: 'all' } as const
    try {
      await session.write(resource, { kind: 'put', key: key as ResourceKey, values, options })
      return true
    } catch (error) {
      if (!(error instanceof DomainError) || isUnavailable(error)) throw error
      if (error.code === 'PRECONDITION_FAILED') return false
      throw new CommandError(`${place}: ${error.message}`, { cause: error })
    }
  }
}
