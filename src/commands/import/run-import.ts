import { appendFile, rm, truncate } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { MAXIMUM_JSON_BYTES } from '../../http/json/strict-json.ts'
import { createRows, type ImportTarget, importRow, type RowOutcome } from './import-rows.ts'
import { errorPath, type ImportState, saveState } from './import-state.ts'
import type { InputRow } from './read-records.ts'

export interface ImportParts extends ImportTarget {
  readonly file: string
  readonly rows: () => AsyncIterable<InputRow>
  readonly concurrency: number
  readonly signal: AbortSignal
  readonly progress: (state: ImportState) => void
}

const CHECKPOINT_ROWS = 200

/** Those of a chunk are created in one transaction. More are hardly faster, and would keep its locks for longer. */
const CHUNK_ROWS = 100

/** A checkpoint is due earlier if errors take more memory than this; those of a row can be longer than the row. */
const CHECKPOINT_CHARACTERS = 1_000_000

/**
 * Imports the remaining rows until the signal aborts. The saved state is never ahead of the database: rows written after
 * the last checkpoint are tried again and skipped.
 *
 * @returns the state at the end
 */
export async function runImport(parts: ImportParts, begin: ImportState): Promise<ImportState> {
  const { file, context, concurrency } = parts
  const errorFile = errorPath(file)
  let state = begin
  let errors = ''
  // Errors of rows after the last checkpoint are written again.
  await (begin.errorBytes > 0 ? truncate(errorFile, begin.errorBytes) : rm(errorFile, { force: true }))
  const checkpoint = async () => {
    if (errors !== '') {
      await appendFile(errorFile, errors, { flush: true })
      state = { ...state, errorBytes: state.errorBytes + Buffer.byteLength(errors) }
      errors = ''
    }
    if (context) await saveState(file, state)
  }
  // Save the key before it determines the identifier of a row.
  await checkpoint()
  const results: AsyncIterable<RowOutcome> = Readable.from(chunks(parts, begin.rows))
    .flatMap((rows: InputRow[]) => createRows(parts, begin, rows))
    .map((row) => importRow(parts, row), { concurrency })
  for await (const { outcome, error } of results) {
    if (error) errors += `${JSON.stringify(error)}\n`
    state = { ...state, rows: state.rows + 1, [outcome]: state[outcome] + 1 }
    parts.progress(state)
    const isDue = state.rows % CHECKPOINT_ROWS === 0 || errors.length > CHECKPOINT_CHARACTERS
    if (isDue) await checkpoint()
  }
  await checkpoint()
  return state
}

/** The rows after those that are done, in chunks that are limited in bytes too. */
async function* chunks({ rows, signal }: ImportParts, done: number): AsyncGenerator<InputRow[]> {
  let number = 0
  let chunk: InputRow[] = []
  let bytes = 0
  for await (const row of rows()) {
    if (signal.aborted) break
    number += 1
    if (number <= done) continue
    chunk.push(row)
    bytes += row.bytes
    if (chunk.length < CHUNK_ROWS && bytes < MAXIMUM_JSON_BYTES) continue
    yield chunk
    chunk = []
    bytes = 0
  }
  yield chunk
}
