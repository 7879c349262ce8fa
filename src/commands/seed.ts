import { modelOf } from '../database/client.ts'
import type { WriteContext } from '../domain/context.ts'
import { OPERATOR } from '../domain/model/caller.ts'
import { putResource } from '../domain/write.ts'
import type { Seed } from '../rest/documents/openapi/samples.ts'
import { readSeeds } from '../seeds.ts'
import { CommandError, databaseConfiguration, resourceNamed, runCommand } from './command.ts'
import { withDatabase } from './shared-database.ts'

const usage = `Adds a small example catalogue with resources in every collection.

  npx halgraph seed

Existing resources stay unchanged, so the command can be repeated, also while the service runs.`

await runCommand(usage, {}, async () => {
  const configuration = await databaseConfiguration()
  const { settings, domain } = configuration
  const { seed } = domain.folder
  const seeds = await readSeeds(seed)
  if (seeds.length === 0) throw new CommandError(`The domain has no examples: there is no ${seed}`)
  await withDatabase(configuration, async ({ client }) => {
    const { resources } = domain
    const created = await createAll(seeds, { ...settings, resources, caller: OPERATOR, client })
    console.log(`Created ${created}, skipped ${seeds.length - created}`)
  })
})

/** @returns how many of them did not exist */
async function createAll(seeds: readonly Seed[], context: WriteContext): Promise<number> {
  let created = 0
  for (const { collection, parent: parentId, id = parentId as string, ...body } of seeds) {
    const resource = resourceNamed(collection, context)
    const key = { parentId, id }
    if (await modelOf(context.client, resource).lookUp(resource, key)) continue
    await putResource(context, resource, key, body, { mayCreate: true, mayReplace: false, readOnly: {} })
    created += 1
  }
  return created
}
