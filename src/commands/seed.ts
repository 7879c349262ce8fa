import { readFile } from 'node:fs/promises'
import { relative } from 'node:path'
import { CommandError, databaseConfiguration, runCommand } from '../service/command.ts'
import { readSeeds } from '../service/settings/domain-folder.ts'
import { createSeeds } from './seed/create-seeds.ts'
import { seedLines, seedProblems } from './seed/seed-problems.ts'
import { operatorSessions, withDatabase } from './shared-database.ts'

const usage = `Adds a small example catalogue with resources in every collection.

  npx halgraph seed

Existing resources stay unchanged, so you can repeat the command. It can run while the service does. The entries
of prisma/seed/catalogue.json are checked first, and then created in order, 100 in each transaction.`

await runCommand(usage, {}, async () => {
  const configuration = await databaseConfiguration()
  const { resources, folder } = configuration.domain
  const seeds = await readSeeds(folder)
  if (seeds.length === 0) throw new CommandError(`The domain has no examples: ${folder.seed} does not exist`)
  const name = relative(process.cwd(), folder.seed)
  const file = { name, lineOf: seedLines(await readFile(folder.seed, 'utf8')) }
  const problems = seedProblems(seeds, resources, file)
  if (problems.length > 0) throw new CommandError(`No entry was created:\n  ${problems.join('\n  ')}`)
  await withDatabase(configuration, async (database) => {
    const created = await createSeeds(seeds, resources, operatorSessions(configuration, database)(), file)
    console.log(`Created ${created}, skipped ${seeds.length - created}`)
  })
})
