import { printSchema } from 'graphql'
import { ArgumentsError, databaseConfiguration, runCommand } from '../service/command.ts'
import { createCompleteSchema, openApiText } from '../service/features.ts'
import { readSeeds } from '../service/settings/domain-folder.ts'

const usage = `Prints a document of the domain, as the service has it with the same settings.

  npx halgraph documents openapi > openapi.json
  npx halgraph documents graphql > schema.graphql

  openapi   the OpenAPI document of the version that API_VERSION names, or else of the newest
  graphql   the GraphQL schema, in SDL

  --every-type   openapi: each media type of each body instead of the first one, for validators`

const options = { 'every-type': { type: 'boolean' } } as const

await runCommand(usage, { allowPositionals: true, options }, async ({ positionals, values }) => {
  const [name, ...others] = positionals
  if (others.length > 0 || (name !== 'openapi' && name !== 'graphql'))
    throw new ArgumentsError('Name a document: openapi or graphql.')
  const { settings, domain } = await databaseConfiguration()
  const text =
    name === 'openapi'
      ? openApiText(domain, await readSeeds(domain.folder), settings, values['every-type'])
      : `${printSchema(createCompleteSchema(domain.resources, domain.versions))}\n`
  process.stdout.write(text)
})
