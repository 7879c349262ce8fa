import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { modelOf } from '../database/client.ts'
import { openSharedDatabase } from '../database/open-database.ts'
import type { WriteContext } from '../domain/changes.ts'
import type { Resource, Values } from '../domain/model/resource.ts'
import { resources, ruleSettings } from '../domain/resources/index.ts'
import { putResource } from '../domain/write.ts'
import { databaseOptions } from '../server.ts'
import { databaseSettings, runCommand } from './command.ts'

const usage = `Fills the database with a small example catalogue: a coherent world in which every collection
has something to show.

  npm run seed

What is there already stays as it is, so it can be run again. It can run while the service does.`

const CATALOGUE = new URL('../../prisma/seed/catalogue.json', import.meta.url)

/** A resource of the catalogue: where it belongs, and its body. Those it refers to come before it. */
interface Seed extends Values {
  readonly collection: string
  readonly parent?: string
  readonly id?: string
}

await runCommand(async () => {
  const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } })
  if (values.help) return console.log(usage)
  const settings = databaseSettings()
  const database = await openSharedDatabase(databaseOptions(settings))
  try {
    const seeds = JSON.parse(await readFile(CATALOGUE, 'utf8')) as Seed[]
    const { idempotencyKeyHours } = settings
    const context = { client: database.client, idempotencyKeyHours, ruleSettings: ruleSettings(settings) }
    const made = await plant(seeds, context)
    console.log(`Made ${made} resources; ${seeds.length - made} were there already`)
  } finally {
    await database.close()
  }
})

async function plant(seeds: readonly Seed[], context: WriteContext): Promise<number> {
  let made = 0
  for (const { collection, parent: parentId, id = parentId as string, ...body } of seeds) {
    const resource = resources.find(({ path }) => path === collection) as Resource
    const address = { parentId, id }
    if (await modelOf(context.client, resource).lookUp(resource, address)) continue
    await putResource(context, resource, address, body, { mayCreate: true, mayReplace: false, readOnly: {} })
    made += 1
  }
  return made
}
