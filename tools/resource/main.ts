import { relative, resolve } from 'node:path'
import type { parseArgs } from 'node:util'
import { baselineFile, readMigrations } from '../../src/database/migrations/migration-files.ts'
import type { Domain } from '../../src/model/definition/domain.ts'
import { ArgumentsError, CommandError, runCommand } from '../../src/service/command.ts'
import { refuseUnfitOperations } from '../../src/service/features.ts'
import { loadSettingsFile } from '../../src/service/settings/configuration.ts'
import { domainFolder, loadDefinitions } from '../../src/service/settings/domain-folder.ts'
import { parseDefaults } from './defaults.ts'
import { repositoryPath } from './location.ts'
import { type GeneratedFiles, planUpdate, writeUpdate } from './migrate.ts'
import { refuseInvalidSchema } from './models/validate.ts'
import { addResource, type SourceFolders } from './new/new.ts'
import { createRowCounter } from './row-counter.ts'
import { withShadow } from './tables/shadow.ts'

const usage = `Adds resources, and brings the Prisma schema and the migrations up to date with the definitions.

  npx halgraph resource new vessels --kind collection
  npx halgraph resource new decks --kind owned --owner vessels --name Deck
  npx halgraph resource migrate
  npx halgraph resource baseline

new writes a definition for you to adapt, its entry in the list of resources and, for the built-in domain, a test.
DOMAIN selects another domain.

  --kind    collection (the default), owned (many for each owner), or singleton (one for each owner)
  --owner   the path of the owner
  --name    the singular, which names the GraphQL type; by default derived from the path

migrate compares the definitions with the migrations. It writes one new migration and the models of the Prisma
schema, and prints what the migration does and which locks it takes. It does not change the database: apply the
migration with npx halgraph migrate. If nothing has changed, it writes nothing. A persisted GraphQL operation that does
not fit the definitions is refused.

baseline writes what all migrations make as one file, prisma/baseline.sql. An empty database begins with it, and with the
migrations that are newer than it. It is optional, and ignored after a migration that it covers was edited.

  --dry-run           print, but write nothing
  --name              the name of the migration
  --default           a value for existing rows, such as --default books.language=en; can be repeated
  --allow-data-loss   remove fields and resources that are no longer defined, with their values
  --allow-invalid-rows
                      keep rows whose values the definitions no longer allow; without it, the command counts
                      them in the database of the settings, and refuses to write the migration`

const options = {
  kind: { type: 'string' },
  owner: { type: 'string' },
  name: { type: 'string' },
  'dry-run': { type: 'boolean' },
  default: { type: 'string', multiple: true },
  'allow-data-loss': { type: 'boolean' },
  'allow-invalid-rows': { type: 'boolean' },
} as const

const BUILT_IN: SourceFolders = {
  definitions: repositoryPath('src/domain/resources'),
  module: '../definition.ts',
  tests: repositoryPath('test/rest'),
}

await runCommand(usage, { options, allowPositionals: true }, async ({ values, positionals }) => {
  const [action, path, ...others] = positionals
  loadSettingsFile()
  const domain = process.env['DOMAIN'] || undefined
  const folder = domainFolder(domain)
  const definitions = await loadDefinitions(folder)
  if (action === 'new' && path !== undefined && others.length === 0) {
    const sources =
      domain === undefined ? BUILT_IN : { definitions: resolve(domain), module: 'halgraph/domain' }
    const written = await addResource({ path, ...values }, definitions, sources)
    for (const file of written) console.log(`Wrote ${relative(process.cwd(), file)}`)
    console.log('Adapt the definition, then run npx halgraph resource migrate')
  } else if (action === 'migrate' && path === undefined) {
    await refuseUnfitOperations(definitions)
    await migrate(values, definitions, folder)
  } else if (action === 'baseline' && path === undefined) {
    const migrations = await readMigrations(folder.migrations)
    const file = baselineFile(folder.migrations)
    const text = await withShadow(migrations, (shadow) => shadow.baseline(migrations))
    await writeUpdate({ files: new Map([[file, text]]) })
    console.log(`Wrote ${relative(process.cwd(), file)}`)
  } else {
    throw new ArgumentsError('Name an action: new <path>, migrate or baseline.')
  }
})

type Options = ReturnType<typeof parseArgs<{ options: typeof options }>>['values']

async function migrate(given: Options, { resources, versions }: Domain, folder: GeneratedFiles) {
  const { name, 'dry-run': isDry = false } = given
  if (name !== undefined && !/^[a-z0-9]+(_[a-z0-9]+)*$/.test(name))
    throw new ArgumentsError('--name must be lower-case letters and digits, with underscores between words')
  const decisions = {
    defaults: parseDefaults(given.default ?? [], resources),
    allowDataLoss: given['allow-data-loss'] ?? false,
    allowInvalidRows: given['allow-invalid-rows'] ?? false,
  }
  const { count, close } = createRowCounter()
  const update = await planUpdate(resources, folder, decisions, { name, versions, count }).finally(close)
  await refuseInvalidSchema(update.schema)
  if (update.files.size === 0)
    return console.log('Nothing to do: the schema and the migrations match the definitions')
  if (update.explanation !== '') console.log(`${update.explanation}\n`)
  if (!isDry) await writeUpdate(update)
  for (const path of update.files.keys())
    console.log(`${isDry ? 'Would write' : 'Wrote'} ${relative(process.cwd(), path)}`)
  if (update.refusals !== '')
    throw new CommandError(`Not migrated, and as before in the schema:\n${update.refusals}`)
}
