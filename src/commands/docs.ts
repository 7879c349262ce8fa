import { writeFile } from 'node:fs/promises'
import { printSchema } from 'graphql'
import { resources } from '../domain/resources/index.ts'
import { domainFolder } from '../domain-folder.ts'
import { createSchema } from '../graph/schema/schema.ts'
import { committedDocument } from '../rest/documents/openapi/document.ts'
import { readSeeds } from '../seeds.ts'
import { runCommand } from './command.ts'

const usage = `Generates the documents that are kept under version control.

  npm run docs

  docs/openapi.json    the OpenAPI document, with the default settings
  docs/schema.graphql  the GraphQL schema`

await runCommand(usage, {}, async () => {
  await write('docs/openapi.json', committedDocument(resources, await readSeeds(domainFolder().seed)))
  await write('docs/schema.graphql', `${printSchema(createSchema(resources))}\n`)
})

async function write(name: string, text: string): Promise<void> {
  await writeFile(new URL(`../../${name}`, import.meta.url), text)
  console.log(`Wrote ${name}`)
}
