import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { resources } from '../domain/resources/index.ts'
import { committedDocument } from '../rest/openapi/committed.ts'
import { runCommand } from './command.ts'

const usage = `Writes the documents that are made from the definitions and kept under version control.

  npm run docs

  docs/openapi.json  the OpenAPI document, with the default settings`

await runCommand(async () => {
  const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } })
  if (values.help) return console.log(usage)
  const file = new URL('../../docs/openapi.json', import.meta.url)
  await writeFile(file, committedDocument(resources))
  console.log('Wrote docs/openapi.json')
})
