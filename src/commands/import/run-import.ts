import { openErrorFile } from './error-file.ts'
import { type ImportRowParts, importRow, type RowOutcome } from './import-row.ts'
import { type ImportState, saveState } from './import-state.ts'
import { inOrder } from './in-order.ts'
import type { InputRow } from './read-records.ts'

export interface ImportParts {
  readonly file: string
  readonly rows: () => AsyncIterable<InputRow>
  readonly row: ImportRowParts
  /** How many rows are written at the same time. */
  readonly width: number
  /** Whether the state is kept, so that the import can be taken up again. */
  readonly resumable: boolean
  readonly signal: AbortSignal
  readonly progress: (state: ImportState) => void
}

const CHECKPOINT_ROWS = 200

/** The errors of one row can be many times as long as the row. */
const CHECKPOINT_CHARACTERS = 1_000_000

/**
 * Imports the rows that the state has not seen yet. The state on disk never runs ahead of the database:
 * what was done after it is tried again, and found to be done. Ends early, and just as well, when aborted.
 *
 * @returns the state it came to
 */
export async function runImport(parts: ImportParts, from: ImportState): Promise<ImportState> {
  const { file, resumable } = parts
  const errors = await openErrorFile(file, from.errorBytes)
  let state = from
  let refused = ''
  const checkpoint = async () => {
    state = { ...state, errorBytes: await errors.append(refused) }
    refused = ''
    if (resumable) await saveState(file, state)
  }
  try {
    // The key is kept before the first row is written under it.
    await checkpoint()
    const work = (row: InputRow) => importRow(parts.row, row)
    for await (const result of inOrder(remaining(parts, from.rows), parts.width, work)) {
      if (result.outcome === 'refused')
        refused += `${JSON.stringify({ line: result.line, ...result.error })}\n`
      state = counted(state, result)
      parts.progress(state)
      const isDue = state.rows % CHECKPOINT_ROWS === 0 || refused.length > CHECKPOINT_CHARACTERS
      if (isDue) await checkpoint()
    }
    await checkpoint()
    return state
  } finally {
    await errors.close()
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

function counted(state: ImportState, { outcome }: RowOutcome): ImportState {
  return { ...state, rows: state.rows + 1, [outcome]: state[outcome] + 1 }
}
