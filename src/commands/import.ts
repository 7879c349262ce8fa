import { access, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseStrictJson } from '../http/json/strict-json.ts'
import { OPERATOR } from '../model/caller.ts'
import { ArgumentsError, databaseConfiguration, resourceNamed, runCommand } from '../service/command.ts'
import type { Settings } from '../service/settings/settings.ts'
import {
  errorPath,
  freshState,
  hashOf,
  type ImportState,
  loadState,
  lockImport,
  statePath,
} from './import/import-state.ts'
import { createProgressBar } from './import/progress-bar.ts'
import { readCsv } from './import/read-csv.ts'
import { type InputRow, readRecords } from './import/read-records.ts'
import { type ImportParts, runImport } from './import/run-import.ts'
import { withDatabase } from './shared-database.ts'

const usage = `Imports the rows of a file into a collection. The rules are those of every write.

  npx halgraph import species file.ndjson
  npx halgraph import species file.csv

  --dry-run      validate each row and write nothing; duplicates and references are not checked, because
                 that needs the database
  --replace      replace existing resources; by default they stay unchanged
  --parent ID    the parent of rows that name none, for owned collections

A .ndjson (or .jsonl) file has one JSON object per line; a .csv file has a header of field names, such as
temperature_range.min_celsius. Rows without an id get one. Refused rows are written to FILE.errors.ndjson with
line number and reasons, and the exit status is 1.

After Ctrl-C or a crash, run the same command to resume; progress is saved in FILE.import-state.json. The
command can run while the service does.`

const INTERRUPTED = 130

const BLANK = /^[ \t\r]*$/

const options = {
  'dry-run': { type: 'boolean', default: false },
  replace: { type: 'boolean', default: false },
  parent: { type: 'string' },
} as const

await runCommand(usage, { allowPositionals: true, options }, async ({ values, positionals }) => {
  const [path, given, ...others] = positionals
  const configuration = await databaseConfiguration()
  const { settings, domain } = configuration
  const resource = resourceNamed(path, domain)
  const read = readerOf(given ?? '')
  if (given === undefined || read === undefined || others.length > 0) {
    throw new ArgumentsError('Pass one file after the collection, ending in .ndjson, .jsonl or .csv')
  }
  await access(given).catch(() => {
    throw new ArgumentsError(`Cannot read ${given}`)
  })
  const file = resolve(given)
  const { replace, parent, 'dry-run': dryRun } = values
  const source = { file, rows: () => read(file, resource), resource, replace, parent }
  if (dryRun) return transfer({ ...source, context: undefined }, settings)
  const unlock = await lockImport(file)
  try {
    await withDatabase(configuration, ({ client }) => {
      const context = { ...settings, resources: domain.resources, caller: OPERATOR, client }
      return transfer({ ...source, context }, settings)
    })
  } finally {
    await unlock()
  }
})

type Source = Omit<ImportParts, 'concurrency' | 'signal' | 'progress'>

async function transfer(source: Source, settings: Settings): Promise<void> {
  const { file, rows, resource, context } = source
  const identity = { collection: resource.path, content: await hashOf(file), database: nameOf(settings) }
  const begin = context ? await loadState(file, identity) : freshState(identity)
  if (begin.rows > 0) console.error(`Resuming after ${begin.rows} rows`)
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort())
  let total = 0
  for await (const _ of rows()) total += 1
  const { show: progress, stop } = createProgressBar(total, begin)
  const { signal } = interruption
  const parts = { ...source, concurrency: settings.databasePoolSize, signal, progress }
  const state = await runImport(parts, begin).finally(stop)
  report(source, state, total)
  if (context && state.rows === total) await rm(statePath(file), { force: true })
}

function report({ file, context }: Source, state: ImportState, total: number): void {
  const { rows, imported, skipped, refused } = state
  const accepted = context ? `Imported ${imported}, skipped ${skipped}` : `Valid ${imported}`
  console.log(`${accepted}, refused ${refused}${refused > 0 ? `; see ${errorPath(file)}` : ''}`)
  if (rows < total) {
    console.error(`Interrupted after ${rows} of ${total} rows. Run the same command to resume.`)
    if (context) console.error(`Progress is saved in ${statePath(file)}`)
  }
  process.exitCode = rows < total ? INTERRUPTED : refused > 0 ? 1 : 0
}

/** Identifies the database without its credentials. */
function nameOf({ databaseUrl, dataDir }: Settings): string {
  if (databaseUrl === undefined) return resolve(dataDir)
  const { host, pathname, searchParams } = new URL(databaseUrl)
  return `${host}${pathname}${searchParams.get('schema') ?? ''}`
}

function readerOf(file: string): typeof readCsv | undefined {
  if (/\.(ndjson|jsonl)$/i.test(file)) return readLines
  return /\.csv$/i.test(file) ? readCsv : undefined
}

function readLines(file: string): AsyncGenerator<InputRow> {
  return readRecords(file, (line) =>
    BLANK.test(line.toString('latin1')) ? undefined : parseStrictJson(line, 'The line'),
  )
}
