import { open } from 'node:fs/promises'
import { type ImportTarget, importRow } from './import-row.ts'
import { errorPath, type ImportState, saveState } from './import-state.ts'
import type { InputRow } from './read-records.ts'

export interface ImportParts {
  readonly file: string
  readonly rows: () => AsyncIterable<InputRow>
  readonly target: ImportTarget
  /** Number of rows that are written at the same time. */
  readonly concurrency: number
  readonly signal: AbortSignal
  readonly progress: (state: ImportState) => void
}

const CHECKPOINT_ROWS = 200

/** A checkpoint is due earlier if errors take more memory than this; those of a row can be longer than the row. */
const CHECKPOINT_CHARACTERS = 1_000_000

/**
 * Imports the remaining rows until the signal aborts. The saved state is never ahead of the database: rows written after
 * the last checkpoint are tried again and skipped.
 *
 * @returns the state at the end
 */
export async function runImport(parts: ImportParts, begin: ImportState): Promise<ImportState> {
  const { file, target, concurrency } = parts
  let state = begin
  let errors = ''
  let errorFile = begin.errorBytes > 0 ? await open(errorPath(file), 'r+') : undefined
  // Errors of rows after the last checkpoint are written again.
  await errorFile?.truncate(begin.errorBytes)
  const checkpoint = async () => {
    if (errors !== '') {
      errorFile ??= await open(errorPath(file), 'w')
      const { bytesWritten } = await errorFile.write(errors, state.errorBytes)
      await errorFile.sync()
      state = { ...state, errorBytes: state.errorBytes + bytesWritten }
      errors = ''
    }
    if (target.context) await saveState(file, state)
  }
  try {
    // Save the key before it determines the identifier of a row.
    await checkpoint()
    const work = (row: InputRow) => importRow(target, begin, row)
    for await (const result of inOrder(remaining(parts, begin.rows), concurrency, work)) {
      if (result.outcome === 'refused')
        errors += `${JSON.stringify({ line: result.line, ...result.error })}\n`
      const { outcome } = result
      state = { ...state, rows: state.rows + 1, [outcome]: state[outcome] + 1 }
      parts.progress(state)
      const isDue = state.rows % CHECKPOINT_ROWS === 0 || errors.length > CHECKPOINT_CHARACTERS
      if (isDue) await checkpoint()
    }
    await checkpoint()
    return state
  } finally {
    await errorFile?.close()
  }
}

async function* remaining({ rows, signal }: ImportParts, done: number): AsyncGenerator<InputRow> {
  let number = 0
  for await (const row of rows()) {
    if (signal.aborted) return
    number += 1
    if (number > done) yield row
  }
}

/**
 * Processes several items at the same time and yields the results in the order of the items.
 *
 * @throws the error of `work`, after the results of all earlier items
 */
async function* inOrder<Item, Result>(
  items: AsyncIterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const pending: Promise<Result>[] = []
  try {
    for await (const item of items) {
      const result = work(item)
      // It is awaited later. Until then, its rejection must not count as unhandled.
      result.catch(() => {})
      pending.push(result)
      if (pending.length >= concurrency) yield await (pending.shift() as Promise<Result>)
    }
    while (pending.length > 0) yield await (pending.shift() as Promise<Result>)
  } finally {
    await Promise.allSettled(pending)
  }
}
