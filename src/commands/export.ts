import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { stringify } from 'csv-stringify/sync'
import { openSharedDatabase } from '../database/open-database.ts'
import { allRows } from '../domain/all-rows.ts'
import type { Leaf, Resource } from '../domain/model/resource.ts'
import type { Row } from '../domain/model/row.ts'
import { toValues } from '../domain/model/rows.ts'
import { databaseOptions } from '../server.ts'
import { ArgumentsError, resourceNamed } from './arguments.ts'
import { databaseSettings, runCommand } from './command.ts'

const usage = `Writes every resource of a collection to standard output, in the order of their identifiers.

  npm run --silent export -- species > species.ndjson
  npm run --silent export -- species --format csv --output species.csv

  --format   ndjson, a JSON object on each line (the default), or csv
  --output   a file to write to instead

Memory stays the same however many there are, and it can run while the service does; what changes in the
meantime is written as it was before or as it is after. The file can be imported again.`

await runCommand(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      format: { type: 'string', default: 'ndjson' },
      output: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) return console.log(usage)
  if (positionals.length > 1) throw new ArgumentsError('Name one collection')
  const resource = resourceNamed(positionals[0])
  const write = writerOf(values.format)
  const database = await openSharedDatabase(databaseOptions(databaseSettings()))
  try {
    const target = values.output === undefined ? process.stdout : createWriteStream(values.output)
    await pipeline(Readable.from(write(resource, allRows(database.client, resource))), target)
  } catch (error) {
    // Whoever read the output has enough of it, as in `| head`.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  } finally {
    await database.close()
  }
})

/** @throws {ArgumentsError} when there is no such format */
function writerOf(format: string): typeof toLines {
  if (format === 'ndjson') return toLines
  if (format === 'csv') return toTable
  throw new ArgumentsError(`--format is ndjson or csv, not ${format}`)
}

async function* toLines(resource: Resource, rows: AsyncIterable<Row>): AsyncGenerator<string> {
  for await (const row of rows) {
    const shown = Object.entries(toValues(resource, row)).filter(([name]) => name in resource.shownFields)
    yield `${JSON.stringify(Object.fromEntries(shown))}\n`
  }
}

async function* toTable(resource: Resource, rows: AsyncIterable<Row>): AsyncGenerator<string> {
  const leaves = resource.shownLeaves
  yield stringify([leaves.map(({ name }) => name)])
  for await (const row of rows)
    yield stringify([leaves.map((leaf) => cell(leaf, row))], { quoted_match: /^$/ })
}

/** Undefined is written as an empty cell, an empty string as a quoted one. */
function cell({ column }: Leaf, row: Row): string | undefined {
  const value = row[column]
  if (value === null || value === undefined) return undefined
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
