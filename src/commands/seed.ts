import { OPERATOR } from '../model/caller.ts'
import { CommandError, databaseConfiguration, runCommand } from '../service/command.ts'
import { readSeeds } from '../service/seeds.ts'
import { createSeeds } from './seed/create-seeds.ts'
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
    const created = await createSeeds(seeds, { ...settings, resources, caller: OPERATOR, client })
    console.log(`Created ${created}, skipped ${seeds.length - created}`)
  })
})
