import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { stringify } from 'csv-stringify/sync'
import type { Database } from '../database/database.ts'
import { openExistingDatabase } from '../database/open-database.ts'
import { allRows } from '../domain/read.ts'
import type { Leaf, Resource } from '../model/resource.ts'
import type { Row } from '../model/row.ts'
import { toValues } from '../model/rows.ts'
import {
  ArgumentsError,
  CommandError,
  databaseConfiguration,
  resourceNamed,
  runCommand,
} from '../service/command.ts'
import { withDatabase } from './shared-database.ts'

const usage = `Writes every resource of a collection to standard output, ordered by identifier.

  npx halgraph export species > species.ndjson
  npx halgraph export species --format csv --output species.csv

  --format   ndjson (the default), one JSON object per line, or csv
  --output   write to this file instead

The command uses constant memory and can run while the service does. It takes no snapshot: a resource that
changes during the export is written in its old or its new state. The file can be imported again.`

const options = {
  format: { type: 'string', default: 'ndjson' },
  output: { type: 'string' },
} as const

await runCommand(usage, { allowPositionals: true, options }, async ({ values, positionals }) => {
  if (positionals.length > 1) throw new ArgumentsError('Pass one collection')
  const configuration = await databaseConfiguration()
  const resource = resourceNamed(positionals[0], configuration.domain)
  const { format, output } = values
  const write = { ndjson: toLines, csv: toTable }[format]
  if (!write) throw new ArgumentsError(`--format must be ndjson or csv, not ${format}`)
  const use = async ({ client }: Database) => {
    const target = output === undefined ? process.stdout : createWriteStream(output)
    await pipeline(Readable.from(write(resource, allRows(client, resource))), target).catch((error) => {
      // The reader closed the output early, as `| head` does.
      if (error.code === 'EPIPE') return
      if (error.syscall !== 'open' && error.syscall !== 'write') throw error
      throw new CommandError(`Cannot write ${output ?? 'the output'}: ${error.message}`)
    })
  }
  await withDatabase(configuration, use, openExistingDatabase)
})

async function* toLines(resource: Resource, rows: AsyncIterable<Row>): AsyncGenerator<string> {
  const hidden = Object.entries(resource.fields).filter(([, field]) => field.hidden)
  for await (const row of rows) {
    const values = { ...toValues(resource, row) }
    for (const [name] of hidden) delete values[name as never]
    yield `${JSON.stringify(values)}\n`
  }
}

async function* toTable(resource: Resource, rows: AsyncIterable<Row>): AsyncGenerator<string> {
  const leaves = resource.leaves.filter(({ field }) => !field.hidden)
  yield stringify([leaves.map(({ name }) => name)])
  for await (const row of rows)
    yield stringify([leaves.map((leaf) => cell(leaf, row))], { quoted_match: /^$/ })
}

/** An unset field is an empty cell, an empty string a quoted one. */
function cell({ column }: Leaf, row: Row): string | undefined {
  const value = row[column]
  if (value === null || value === undefined) return undefined
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
