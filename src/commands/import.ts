import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { access } from 'node:fs/promises'
import { resolve } from 'node:path'
import { clearLine } from 'node:readline'
import { pipeline } from 'node:stream/promises'
import { type Database, openExistingDatabase } from '../database/database.ts'
import { parseStrictJson } from '../http/json.ts'
import { ArgumentsError, databaseConfiguration, resourceNamed, runCommand } from '../service/command.ts'
import { localCells } from './import/local-cells.ts'
import { readCsv } from './import/read-csv.ts'
import { type InputRow, readRecords } from './import/read-records.ts'
import { recordedView } from './import/recorded-rows.ts'
import { errorPath, type ImportParts, type Progress, rulesPath, runImport } from './import/run-import.ts'
import { operatorSessions, withDatabase } from './shared-database.ts'

const usage = `Imports the rows of a file into a collection, with the rules of every write.

  npx halgraph import species file.ndjson
  npx halgraph import species file.csv

  --dry-run      validate each row and write nothing; duplicates, references and rules are not checked
  --replace      replace existing resources; by default they stay unchanged. With --dry-run, count the rows
                 that it would create, because no resource has their id, and those that it would replace
  --as-recorded  write each row as another system recorded it: with its times, states, read-only fields and, as
                 changed_by, its author. The constraints of the database hold, the rules of writes do not; rows
                 that break some are listed in FILE.rules.ndjson
  --again TEXT   import rows without an id once more, although this file was imported: once for each text
  --parent ID    the parent of rows that name none, for owned collections
  --locale NAME  read numbers, days, times and booleans of a table as spreadsheets of this locale write them:
                 with de, 1.200 is 1200, and 24.06.2016, 24.06.2016 18:00 and WAHR are values

A .ndjson (or .jsonl) file has one JSON object per line; a .csv (or .tsv) file has a header of field names, such
as temperature_range.min_celsius, separated by commas, semicolons or tabs. Empty rows, and empty columns without
a name, are left out. A time without a zone, 2025-12-01 18:00:00, is in the zone of this machine, or that of the
variable TZ. Rows without an id get one that follows from the file and the line. New rows may have any state of
an enumeration with transitions. Refused rows are written to FILE.errors.ndjson with their line numbers and the
reasons, and the exit status is 1.

After Ctrl-C or a crash, run the same command again: rows that were imported are skipped. The command can run while
the service does.`

const INTERRUPTED = 130

const UPDATE_MILLISECONDS = 200

const BLANK = /^[ \t\r]*$/

const options = {
  'dry-run': { type: 'boolean', default: false },
  replace: { type: 'boolean', default: false },
  'as-recorded': { type: 'boolean', default: false },
  again: { type: 'string' },
  parent: { type: 'string' },
  locale: { type: 'string' },
} as const

await runCommand(usage, { allowPositionals: true, options }, async ({ values, positionals }) => {
  const [path, given, ...others] = positionals
  const configuration = await databaseConfiguration()
  const { settings, domain } = configuration
  const resource = resourceNamed(path, domain)
  const read = readerOf(given ?? '')
  if (given === undefined || read === undefined || others.length > 0)
    throw new ArgumentsError('Pass one file after the collection, ending in .ndjson, .jsonl, .csv or .tsv')
  if (values.parent !== undefined && resource.kind === 'collection')
    throw new ArgumentsError(`--parent is for owned collections, and ${resource.path} is not one`)
  await access(given).catch(() => {
    throw new ArgumentsError(`Cannot read ${given}`)
  })
  const file = resolve(given)
  const { replace, parent, locale, again, 'dry-run': isDry, 'as-recorded': isRecorded } = values
  if (isRecorded && replace) throw new ArgumentsError('Pass one of --as-recorded and --replace')
  if (locale !== undefined && read !== readCsv)
    throw new ArgumentsError('--locale is for tables: .csv or .tsv files')
  const local = localCells(locale)
  const digest = await digestOf(file, again)
  const recorded = isRecorded ? recordedView(resource) : undefined
  const rows = () => read(file, recorded ?? resource, local)
  const parts = { file, rows, resource, recorded, replace, parent, digest, isDry }
  const { databasePoolSize } = settings
  if (isDry && !replace) return transfer({ ...parts, open: undefined }, databasePoolSize)
  const use = (database: Database) =>
    transfer({ ...parts, open: operatorSessions(configuration, database) }, databasePoolSize)
  await withDatabase(configuration, use, isDry ? openExistingDatabase : undefined)
})

async function transfer(parts: ImportParts, concurrency: number): Promise<void> {
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort())
  let total = 0
  for await (const _ of parts.rows()) total += 1
  const progress = await runImport(parts, concurrency, interruption.signal, progressBar(total)).finally(
    () => process.stderr.isTTY && process.stderr.write('\n'),
  )
  report(parts, progress, total)
}

async function digestOf(file: string, again = ''): Promise<string> {
  const hash = createHash('sha256').update(again)
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

/** On standard error, if that is a terminal. */
function progressBar(total: number): (progress: Progress) => void {
  const { stderr } = process
  const started = performance.now()
  let shownAt = Number.NEGATIVE_INFINITY
  return ({ rows, refused }) => {
    const now = performance.now()
    if (!stderr.isTTY || (now - shownAt < UPDATE_MILLISECONDS && rows < total)) return
    shownAt = now
    const rate = rows / Math.max((now - started) / 1000, 0.001)
    const left = rate === 0 ? '' : ` | ${Math.ceil((total - rows) / rate)} s left`
    const percentage = total === 0 ? 100 : Math.floor((100 * rows) / total)
    clearLine(stderr, 0)
    stderr.write(
      `\r${percentage}% | ${rows}/${total} rows | ${Math.round(rate)}/s${left} | ${refused} refused`,
    )
  }
}

function report({ file, open, isDry }: ImportParts, progress: Progress, total: number): void {
  const { rows, imported, skipped, refused, breaking } = progress
  const plan = open ? ` (would create ${imported}, replace ${skipped})` : ''
  const accepted = isDry ? `Valid ${imported + skipped}${plan}` : `Imported ${imported}, skipped ${skipped}`
  console.log(`${accepted}, refused ${refused}${refused > 0 ? `; see ${errorPath(file)}` : ''}`)
  if (breaking > 0) console.log(`${breaking} break rules of writes; see ${rulesPath(file)}`)
  if (rows < total)
    console.error(`Interrupted after ${rows} of ${total} rows. Run the same command to go on.`)
  process.exitCode = rows < total ? INTERRUPTED : refused > 0 ? 1 : 0
}

function readerOf(file: string): typeof readCsv | undefined {
  if (/\.(ndjson|jsonl)$/i.test(file)) return readLines
  return /\.[ct]sv$/i.test(file) ? readCsv : undefined
}

function readLines(file: string): AsyncGenerator<InputRow> {
  return readRecords(file, (line) =>
    BLANK.test(line.toString('latin1')) ? undefined : parseStrictJson(line, 'The line'),
  )
}
