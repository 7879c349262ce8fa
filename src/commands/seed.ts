import { modelOf } from '../database/client.ts'
import type { WriteContext } from '../domain/context.ts'
import { OPERATOR } from '../domain/model/caller.ts'
import { domain } from '../domain/resources/index.ts'
import { putResource } from '../domain/write.ts'
import type { Seed } from '../rest/documents/openapi/samples.ts'
import { readSeeds } from '../seeds.ts'
import { databaseSettings, resourceNamed, runCommand } from './command.ts'
import { withDatabase } from './shared-database.ts'

const usage = `Adds a small example catalogue with resources in every collection.

  npm run seed

Existing resources stay unchanged, so the command can be repeated, also while the service runs.`

await runCommand(usage, {}, async () => {
  const settings = databaseSettings()
  const seeds = await readSeeds()
  await withDatabase(settings, async ({ client }) => {
    const created = await createAll(seeds, {
      ...settings,
      ruleSettings: domain.ruleSettings?.(settings) ?? {},
      caller: OPERATOR,
      client,
    })
    console.log(`Created ${created}, skipped ${seeds.length - created}`)
  })
})

/** @returns how many of them did not exist */
async function createAll(seeds: readonly Seed[], context: WriteContext): Promise<number> {
  let created = 0
  for (const { collection, parent: parentId, id = parentId as string, ...body } of seeds) {
    const resource = resourceNamed(collection)
    const key = { parentId, id }
    if (await modelOf(context.client, resource).lookUp(resource, key)) continue
    await putResource(context, resource, key, body, { mayCreate: true, mayReplace: false, readOnly: {} })
    created += 1
  }
  return created
}
