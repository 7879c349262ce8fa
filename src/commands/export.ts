import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { stringify } from 'csv-stringify'
import { type Database, openExistingDatabase } from '../database/database.ts'
import { allRows } from '../domain/read.ts'
import type { Values } from '../model/definition/resource.ts'
import { jsonValues } from '../model/rows/columns.ts'
import { csvOptions } from '../rest/items.ts'
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
changes during the export is written in its old or its new state. The output can be imported again.`

const options = {
  format: { type: 'string', default: 'ndjson' },
  output: { type: 'string' },
} as const

await runCommand(usage, { allowPositionals: true, options }, async ({ values, positionals }) => {
  if (positionals.length > 1) throw new ArgumentsError('Pass one collection')
  const configuration = await databaseConfiguration()
  const resource = resourceNamed(positionals[0], configuration.domain)
  const { format, output } = values
  const toTable = () => stringify(csvOptions(resource.shownLeaves))
  const formatOf = { ndjson: () => toLines, csv: toTable }[format]
  if (!formatOf) throw new ArgumentsError(`--format must be ndjson or csv, not ${format}`)
  const use = async ({ client }: Database) => {
    const target = output === undefined ? process.stdout : createWriteStream(output)
    const rows = async function* () {
      for await (const row of allRows(client, resource)) yield jsonValues(resource, row)
    }
    await pipeline(rows, formatOf(), target).catch((error) => {
      // The reader closed the output early, as `| head` does.
      if (error.code === 'EPIPE') return
      if (error.syscall !== 'open' && error.syscall !== 'write') throw error
      throw new CommandError(`Cannot write ${output ?? 'the output'}: ${error.message}`)
    })
  }
  await withDatabase(configuration, use, openExistingDatabase)
})

async function* toLines(rows: AsyncIterable<Values>) {
  for await (const row of rows) yield `${JSON.stringify(row)}\n`
}
