import { createHash } from 'node:crypto'
import { appendFile, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { v4, v7 } from 'uuid'
import type { RecordedOutcome } from '../../domain/create-recorded.ts'
import type { Session } from '../../domain/session/session.ts'
import { refuseMalformedKey } from '../../domain/write.ts'
import { MAXIMUM_JSON_BYTES } from '../../http/json.ts'
import type { Resource, Values } from '../../model/definition/resource.ts'
import { DomainError, errorAt, isUnavailable } from '../../model/errors.ts'
import type { ResourceKey } from '../../model/rows/identifiers.ts'
import { inspectResource } from '../../model/validate.ts'
import { isObject } from '../../model/values.ts'
import { CommandError } from '../../service/command.ts'
import { patiently } from '../shared-database.ts'
import type { InputRow } from './read-records.ts'
import { recordedColumns, rulesBrokenBy } from './recorded-rows.ts'

export interface ImportParts {
  readonly file: string
  readonly rows: () => AsyncIterable<InputRow>
  readonly resource: Resource
  /** The parent of rows that name none. */
  readonly parent: string | undefined
  readonly replace: boolean
  /** In hexadecimal. Determines, with the line, the identifiers of rows without one. */
  readonly digest: string
  /** Whether nothing is written. */
  readonly isDry: boolean
  /** The view of the resource as it was recorded, if the rows are written so (`recorded-rows.ts`). */
  readonly recorded: Resource | undefined
  /** Undefined to validate only. */
  readonly open: (() => Session) | undefined
}

/** The outcomes of the rows that are done. */
export interface Progress {
  readonly rows: number
  readonly imported: number
  readonly skipped: number
  readonly refused: number
  /** Rows that are written, although they break rules of writes. */
  readonly breaking: number
}

interface Outcome {
  readonly outcome: 'imported' | 'skipped' | 'refused'
  /** Why the row was refused, as in the error file. */
  readonly error?: object
  /** The rules that the row breaks, if it was written all the same. */
  readonly breaks?: object | undefined
}

/** Valid by itself, and not written yet. */
interface ValidRow extends ResourceKey {
  readonly line: number
  /** Columns, if it is written as it was recorded. */
  readonly body: Values
  readonly breaks?: object | undefined
}

type CheckedRow = ValidRow | Outcome

/** Rows created in one transaction. More are hardly faster, and hold its locks for longer. */
const CHUNK_ROWS = 100

/** Lines are kept until they take more memory than this. */
const KEPT_CHARACTERS = 1_000_000

export function errorPath(file: string): string {
  return `${file}.errors.ndjson`
}

/** The rows that break rules of writes. */
export function rulesPath(file: string): string {
  return `${file}.rules.ndjson`
}

/** Collects lines of a new file. */
async function linesFor(path: string) {
  let kept = ''
  await rm(path, { force: true })
  const flush = async () => {
    if (kept !== '') await appendFile(path, kept)
    kept = ''
  }
  const add = async (line: object | undefined) => {
    if (line) kept += `${JSON.stringify(line)}\n`
    if (kept.length > KEPT_CHARACTERS) await flush()
  }
  return { add, flush }
}

/** Imports the rows until the signal aborts. Those that an earlier import of the file has written are skipped. */
export async function runImport(
  parts: ImportParts,
  concurrency: number,
  signal: AbortSignal,
  showProgress: (progress: Progress) => void,
): Promise<Progress> {
  let progress: Progress = { rows: 0, imported: 0, skipped: 0, refused: 0, breaking: 0 }
  const errors = await linesFor(errorPath(parts.file))
  const broken = await linesFor(rulesPath(parts.file))
  const results: AsyncIterable<Outcome> = Readable.from(chunks(parts, signal))
    .flatMap((rows: CheckedRow[]) => createRows(parts, rows))
    .map((row) => importRow(parts, row), { concurrency })
  try {
    for await (const { outcome, error, breaks } of results) {
      await errors.add(error)
      await broken.add(breaks)
      const breaking = progress.breaking + (breaks ? 1 : 0)
      progress = { ...progress, rows: progress.rows + 1, [outcome]: progress[outcome] + 1, breaking }
      showProgress(progress)
    }
  } catch (cause) {
    if (!isUnavailable(cause)) throw cause
    const { rows, imported, skipped, refused } = progress
    const counts = `${rows} rows are done: imported ${imported}, skipped ${skipped}, refused ${refused}.`
    throw new CommandError(`${(cause as Error).message} ${counts} Run the same command to go on.`, { cause })
  } finally {
    await errors.flush()
    await broken.flush()
  }
  return progress
}

/** Chunks are limited in bytes, too. */
async function* chunks(parts: ImportParts, signal: AbortSignal): AsyncGenerator<CheckedRow[]> {
  let chunk: CheckedRow[] = []
  let bytes = 0
  for await (const row of parts.rows()) {
    if (signal.aborted) break
    chunk.push(check(parts, row))
    bytes += row.bytes
    if (chunk.length < CHUNK_ROWS && bytes < MAXIMUM_JSON_BYTES) continue
    yield chunk
    chunk = []
    bytes = 0
  }
  yield chunk
}

function check(parts: ImportParts, row: InputRow): CheckedRow {
  const { line } = row
  try {
    if ('refusal' in row) throw row.refusal
    const body = isObject(row.values) ? row.values : {}
    const columns = parts.recorded && recordedColumns(parts.recorded, row.values)
    const { details } = columns ? { details: [] } : inspectResource(parts.resource, row.values)
    if (details.length > 0)
      throw new DomainError('VALIDATION_FAILED', details.map(({ message }) => message).join(' '), details)
    const key = keyOf(parts, line, body)
    refuseMalformedKey(parts.resource, key)
    if (!columns) return { line, body, ...key }
    const broken = rulesBrokenBy(parts.resource, columns)
    const breaks = broken.length > 0 ? { line, id: key.id, details: broken } : undefined
    return { line, body: columns, breaks, ...key }
  } catch (error) {
    return refusal(line, error)
  }
}

/**
 * Creates the resources of rows in one transaction, which takes a fifth of the time. Leaves existing ones to
 * {@link importRow}, as it does those that a rule refuses, and all of them if the database refuses one.
 *
 * @throws errors that the rows do not cause, such as a lost connection
 */
async function createRows({ open, resource, isDry, recorded }: ImportParts, rows: readonly CheckedRow[]) {
  const valid = rows.filter((row) => 'body' in row)
  if (!open || isDry || valid.length === 0) return rows
  if (recorded) {
    const recordedRows = valid.map(({ body, ...key }) => ({ key, columns: body }))
    const outcomes = await patiently(() => open().createRecorded(resource, recordedRows))
    return rows.map((row) => ('body' in row ? recordedOutcome(row, outcomes[valid.indexOf(row)]) : row))
  }
  const creations = valid.map((row) => ({ ...row, mayReplace: false }))
  const areNew = await patiently(() => open().createAll(resource, creations))
  const created = new Set<CheckedRow>(valid.filter((_, index) => areNew[index]))
  return rows.map((row): CheckedRow => (created.has(row) ? { outcome: 'imported' } : row))
}

function recordedOutcome({ line, breaks }: ValidRow, outcome: RecordedOutcome = 'skipped'): Outcome {
  if (outcome instanceof DomainError) return refusal(line, outcome)
  return { outcome, breaks: outcome === 'imported' ? breaks : undefined }
}

/** Throws the same errors as {@link createRows}. */
async function importRow(parts: ImportParts, row: CheckedRow): Promise<Outcome> {
  const { open, resource, replace, isDry } = parts
  if ('outcome' in row) return row
  const { breaks } = row
  if (!open) return { outcome: 'imported', breaks }
  try {
    if (isDry) return { outcome: (await open().exists(resource, row)) ? 'skipped' : 'imported', breaks }
    const options = replace ? {} : { unlessVersions: 'all' as const }
    const write = { kind: 'put', key: row, values: row.body, options } as const
    const { outcome } = await patiently(() => open().write(resource, write))
    return { outcome: outcome === 'UNCHANGED' ? 'skipped' : 'imported' }
  } catch (error) {
    return refusal(row.line, error)
  }
}

function refusal(line: number, error: unknown): Outcome {
  if (!(error instanceof DomainError) || isUnavailable(error)) throw error
  if (error.code === 'PRECONDITION_FAILED') return { outcome: 'skipped' }
  const { code, message, details } = error
  return { outcome: 'refused', error: { line, code, message, details } }
}

function keyOf({ resource, parent, digest }: ImportParts, line: number, values: Values): ResourceKey {
  const parentId = resource.parentField && (textAt(values, resource.parentField) ?? parent)
  if (resource.parentField && parentId === undefined) {
    const message = `${resource.parentField} or the option --parent is required.`
    throw errorAt(resource.parentField, 'REQUIRED_FIELD', 'VALIDATION_FAILED', message)
  }
  if (resource.kind === 'singleton') return { parentId, id: parentId as string }
  return { parentId, id: textAt(values, 'id') ?? identifierOf(resource, digest, line) }
}

/**
 * The identifier of a row without one. It depends only on the file and the line, so a row that is imported again does not
 * become a second resource. Where identifiers have a time, theirs is a number of the file, and they are in the order of lines.
 */
function identifierOf(resource: Resource, digest: string, line: number): string {
  const random = createHash('sha256').update(`${digest}:${line}`).digest().subarray(0, 16)
  const msecs = Number.parseInt(digest.slice(0, 10), 16)
  return resource.randomIdentifiers ? v4({ random }) : v7({ msecs, seq: line, random })
}

function textAt(values: Values, name: string): string | undefined {
  const value = values[name]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  throw errorAt(name, 'INVALID_TYPE', 'VALIDATION_FAILED', `${name} must be a string.`)
}
