import { access } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { openSharedDatabase } from '../database/open-database.ts'
import type { WriteContext } from '../domain/changes.ts'
import type { Resource } from '../domain/model/resource.ts'
import { ruleSettings } from '../domain/resources/index.ts'
import { databaseOptions } from '../server.ts'
import type { Settings } from '../settings.ts'
import { ArgumentsError, resourceNamed } from './arguments.ts'
import { databaseSettings, runCommand } from './command.ts'
import {
  fingerprintOf,
  type ImportState,
  loadState,
  lockImport,
  removeState,
  statePath,
} from './import/import-state.ts'
import { createProgressBar } from './import/progress-bar.ts'
import type { InputRow } from './import/read-records.ts'
import { type Format, formatOf, readRows } from './import/read-rows.ts'
import { rowIdentifier } from './import/row-identifier.ts'
import { runImport } from './import/run-import.ts'

const usage = `Imports the rows of a file into a collection, by the rules that every write follows.

  npm run import -- species file.ndjson
  npm run import -- species file.csv

  --dry-run      check every row by itself and write nothing; what takes a look at the database to know
                 (duplicates, references) is not checked
  --replace      a row whose id is there already replaces that resource; otherwise it stays as it is
  --parent ID    the parent of rows that name none, for collections that have one

A .ndjson (or .jsonl) file has a JSON object on each line; a .csv file has a header of field names, as in
temperature_range.min_celsius. Rows without an id get one. Rows that are refused are written to
FILE.errors.ndjson with line number and reasons, and the exit status is 1.

When it is interrupted, by Ctrl-C or by a crash, the same command goes on where it stopped: how far it came
is in FILE.import-state.json. It can run while the service does.`

const INTERRUPTED = 130

interface Options {
  readonly file: string
  readonly format: Format
  readonly resource: Resource
  readonly dryRun: boolean
  readonly replace: boolean
  readonly parent: string | undefined
}

await runCommand(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'dry-run': { type: 'boolean', default: false },
      replace: { type: 'boolean', default: false },
      parent: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) return console.log(usage)
  const [path, file, ...others] = positionals
  const resource = resourceNamed(path)
  const format = formatOf(file ?? '')
  if (file === undefined || format === undefined || others.length > 0) {
    throw new ArgumentsError('Name one file after the collection, ending in .ndjson, .jsonl or .csv')
  }
  await access(file).catch(() => {
    throw new ArgumentsError(`${file} cannot be read`)
  })
  const { replace, parent, 'dry-run': dryRun } = values
  const options: Options = { file: resolve(file), format, resource, dryRun, replace, parent }
  if (dryRun) await transfer(options, undefined, 'none', 1)
  else await importInto(options, databaseSettings())
})

async function importInto(options: Options, settings: Settings): Promise<void> {
  const unlock = await lockImport(options.file)
  try {
    const database = await openSharedDatabase(databaseOptions(settings))
    try {
      const { idempotencyKeyHours } = settings
      const context = { client: database.client, idempotencyKeyHours, ruleSettings: ruleSettings(settings) }
      await transfer(options, context, nameOf(settings), settings.databasePoolSize)
    } finally {
      await database.close()
    }
  } finally {
    await unlock()
  }
}

async function transfer(
  options: Options,
  context: WriteContext | undefined,
  database: string,
  width: number,
): Promise<void> {
  const { file, format, resource, parent, replace } = options
  const rows = () => readRows(file, format, resource)
  const identity = { collection: resource.path, fingerprint: await fingerprintOf(file), database }
  const begin = context ? await loadState(file, identity) : freshState(identity)
  if (begin.rows > 0) console.error(`Going on after ${begin.rows} rows`)
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort())
  const total = await countOf(rows())
  const progress = createProgressBar(total, begin)
  const identify = (line: number) => rowIdentifier(resource, begin.key, begin.started, line)
  const parts = {
    file,
    rows,
    row: { resource, identify, parent, replace, context },
    width,
    resumable: context !== undefined,
    signal: interruption.signal,
    progress: progress.show,
  }
  const state = await runImport(parts, begin).finally(progress.stop)
  report(options, state, total)
  if (context && state.rows === total) await removeState(file)
}

function report({ file, dryRun }: Options, state: ImportState, total: number): void {
  const { rows, imported, present, refused } = state
  const taken = dryRun ? `${imported} rows could be imported` : `Imported ${imported} rows`
  const known = present > 0 ? `, ${present} were there already` : ''
  console.log(`${taken}${known}, ${refused} refused${refused > 0 ? `: ${file}.errors.ndjson` : ''}`)
  if (rows < total) {
    console.error(`Interrupted after ${rows} of ${total} rows; the same command goes on from there.`)
    if (!dryRun) console.error(`How far it came is in ${statePath(file)}`)
  }
  process.exitCode = rows < total ? INTERRUPTED : refused > 0 ? 1 : 0
}

function freshState(identity: Pick<ImportState, 'collection' | 'fingerprint' | 'database'>): ImportState {
  return { ...identity, key: '', started: 0, rows: 0, imported: 0, present: 0, refused: 0, errorBytes: 0 }
}

/** Which database it is, without what is secret in its address. */
function nameOf({ databaseUrl, dataDir }: Settings): string {
  if (databaseUrl === undefined) return resolve(dataDir)
  const { host, pathname, searchParams } = new URL(databaseUrl)
  return `${host}${pathname}${searchParams.get('schema') ?? ''}`
}

async function countOf(rows: AsyncIterable<InputRow>): Promise<number> {
  let count = 0
  for await (const _ of rows) count += 1
  return count
}
