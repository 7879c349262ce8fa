import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { lock } from 'proper-lockfile'
import { ArgumentsError } from '../../service/command.ts'

/** The progress of an import, saved beside its file until it is finished. */
export interface ImportState {
  readonly collection: string
  /** The SHA-256 of the file. */
  readonly content: string
  readonly database: string
  readonly locale?: string | undefined
  /** Random. Determines, with the line, the identifiers of rows without one. */
  readonly key: string
  /** Milliseconds since 1970. */
  readonly started: number
  readonly rows: number
  readonly imported: number
  readonly skipped: number
  readonly refused: number
  /** The length of the error file after these rows. */
  readonly errorBytes: number
}

/** An import can be resumed only if all of these are the same. */
type ImportIdentity = Pick<ImportState, 'collection' | 'content' | 'database' | 'locale'>

export function statePath(file: string): string {
  return `${file}.import-state.json`
}

export function errorPath(file: string): string {
  return `${file}.errors.ndjson`
}

export function freshState(identity: ImportIdentity): ImportState {
  const counts = { rows: 0, imported: 0, skipped: 0, refused: 0, errorBytes: 0 }
  return { ...identity, key: randomBytes(16).toString('hex'), started: Date.now(), ...counts }
}

/** @throws {ArgumentsError} when the file, the collection or the database of an unfinished import has changed */
export async function loadState(file: string, identity: ImportIdentity): Promise<ImportState> {
  if (!existsSync(statePath(file))) return freshState(identity)
  const state = JSON.parse(await readFile(statePath(file), 'utf8')) as ImportState
  const different = Object.entries(identity).find(([name, value]) => state[name as 'key'] !== value)
  if (different === undefined) return state
  throw new ArgumentsError(
    `The ${different[0]} differs from the unfinished import in ${statePath(file)}. ` +
      'Resume that import, or delete its state to import all rows again.',
  )
}

/** A crash leaves a complete state. */
export async function saveState(file: string, state: ImportState): Promise<void> {
  const temporary = `${statePath(file)}.new`
  await writeFile(temporary, `${JSON.stringify(state)}\n`, { mode: 0o600, flush: true })
  await rename(temporary, statePath(file))
}

export async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

const STALE_MILLISECONDS = 5_000

/**
 * Prevents two imports of one file at the same time. Waits for the lock of a killed import to become stale.
 *
 * @throws {ArgumentsError} when another import of the file is running
 */
export async function lockImport(file: string): Promise<() => Promise<void>> {
  const retries = { retries: 14, factor: 1, minTimeout: 500, maxTimeout: 500 }
  try {
    return await lock(file, { lockfilePath: `${file}.import-lock`, stale: STALE_MILLISECONDS, retries })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ELOCKED') throw error
    throw new ArgumentsError(`Another process is importing ${file}`)
  }
}
