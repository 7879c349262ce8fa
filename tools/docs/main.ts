import { writeFile } from 'node:fs/promises'
import { printSchema } from 'graphql'
import { drawEntities, drawTypes } from '../../src/documents/data-model.ts'
import { typeMap } from '../../src/graph/type-map.ts'
import { runCommand } from '../../src/service/command.ts'
import { createCompleteSchema, openApiText } from '../../src/service/features.ts'
import { domainFolder, loadDefinitions, readSeeds } from '../../src/service/settings/domain-folder.ts'
import { fieldsDocument } from './fields.ts'
import { readResourceGuide, resourcesDocument } from './resources.ts'

const usage = `Generates the documents of the built-in domain that are under version control.

  npm run docs

  docs/openapi.json    the OpenAPI document for the default settings
  docs/schema.graphql  the GraphQL schema
  docs/RESOURCES.md    the options of resources
  docs/FIELDS.md       the kinds of fields
  docs/images/entities.svg, types.svg  the diagrams of docs/MODEL.md`

await runCommand(usage, {}, async () => {
  const domain = await loadDefinitions(domainFolder())
  await write('docs/openapi.json', openApiText(domain, await readSeeds(domain.folder)))
  await write('docs/RESOURCES.md', resourcesDocument(await readResourceGuide()))
  await write('docs/FIELDS.md', fieldsDocument())
  const schema = createCompleteSchema(domain.resources, domain.versions)
  await write('docs/schema.graphql', `${printSchema(schema)}\n`)
  await write('docs/images/entities.svg', (await drawEntities(domain.resources)).text)
  await write('docs/images/types.svg', (await drawTypes(typeMap(schema, domain.resources))).text)
})

async function write(name: string, text: string): Promise<void> {
  await writeFile(new URL(`../../${name}`, import.meta.url), text)
  console.log(`Wrote ${name}`)
}
