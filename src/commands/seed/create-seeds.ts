import { type Seed, seedEntry } from '../../documents/openapi/seeds.ts'
import type { WriteContext } from '../../domain/context.ts'
import { createTogether } from '../../domain/create-together.ts'
import { inOneTransaction } from '../../domain/transaction.ts'
import { putResource } from '../../domain/write.ts'
import type { Resource, Values } from '../../model/definition/resource.ts'
import { DomainError, isUnavailable } from '../../model/errors.ts'
import type { ResourceKey } from '../../model/rows/identifiers.ts'
import { CommandError, resourceNamed } from '../../service/command.ts'
import { patiently } from '../shared-database.ts'
import { lineIn, placeOf, type SeedFile } from './seed-problems.ts'

interface Entry extends ResourceKey {
  readonly mayReplace: false
  readonly body: Values
  readonly place: string
}

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
  context: WriteContext,
  file?: SeedFile,
): Promise<number> {
  let created = 0
  for (let first = 0; first < seeds.length; first += PART_ENTRIES) {
    try {
      created += await patiently(() => createPart(seeds, first, context, file))
    } catch (cause) {
      if (!isUnavailable(cause) && !(cause instanceof CommandError)) throw cause
      const done = first === 0 ? 'No entry was created.' : `The first ${first} entries are there.`
      const advice = first === 0 ? '' : ' Run the same command again for the others.'
      throw new CommandError(`${done} ${(cause as Error).message}${advice}`, { cause })
    }
  }
  return created
}

function createPart(
  seeds: readonly Seed[],
  first: number,
  context: WriteContext,
  file: SeedFile | undefined,
): Promise<number> {
  const groups: { resource: Resource; entries: Entry[] }[] = []
  for (const [place, seed] of seeds.slice(first, first + PART_ENTRIES).entries()) {
    const index = first + place
    const resource = resourceNamed(seed.collection, context)
    const { parentId, id, body } = seedEntry(seed, resource)
    if (groups.at(-1)?.resource !== resource) groups.push({ resource, entries: [] })
    const key = { parentId, id } as ResourceKey
    groups
      .at(-1)
      ?.entries.push({ ...key, body, mayReplace: false, place: lineIn(file, index) + placeOf(seed, index) })
  }
  return inOneTransaction(context, { hasSavepoints: false }, async (client, transaction) => {
    const inside = { ...context, client, transaction }
    let created = 0
    for (const { resource, entries } of groups) {
      const together = await createTogether(inside, resource, entries)
      for (const [index, entry] of entries.entries()) {
        if (together[index] || (await isCreated(inside, resource, entry))) created += 1
      }
    }
    return { result: created, isKept: true }
  })
}

async function isCreated(context: WriteContext, resource: Resource, entry: Entry): Promise<boolean> {
  const { parentId, id, body, place } = entry
  if (await context.client.findByKey(resource, { parentId, id }, context.access)) return false
  try {
    await putResource(context, resource, entry, body, {
      mayCreate: true,
      unlessVersions: 'all',
      readOnly: {},
    })
    return true
  } catch (error) {
    if (!(error instanceof DomainError) || isUnavailable(error)) throw error
    throw new CommandError(`${place}: ${error.message}`, { cause: error })
  }
}
