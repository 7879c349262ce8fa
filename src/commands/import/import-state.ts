import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { lock } from 'proper-lockfile'
import { ArgumentsError } from '../arguments.ts'

/** How far an import has come. Kept beside its file until it is over. */
export interface ImportState {
  /** What the import is of, and where to: it can only be taken up again with the same. */
  readonly collection: string
  readonly fingerprint: string
  readonly database: string
  /** From which, with the line, the identifiers of rows that bring none are made. */
  readonly key: string
  readonly started: number
  /** All rows up to here are done, whether taken or refused. */
  readonly rows: number
  readonly imported: number
  readonly present: number
  readonly refused: number
  /** The length of the file of errors at that point. */
  readonly errorBytes: number
}

export function statePath(file: string): string {
  return `${file}.import-state.json`
}

/**
 * Takes up an import where it stopped, or begins one.
 *
 * @throws {ArgumentsError} when the file, the collection or the database is another than it was
 */
export async function loadState(
  file: string,
  identity: Pick<ImportState, 'collection' | 'fingerprint' | 'database'>,
): Promise<ImportState> {
  const text = await readFile(statePath(file), 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) {
    const progress = { rows: 0, imported: 0, present: 0, refused: 0, errorBytes: 0 }
    return { ...identity, key: randomBytes(16).toString('hex'), started: Date.now(), ...progress }
  }
  const state = JSON.parse(text) as ImportState
  const [different] = Object.entries(identity).filter(([name, value]) => state[name as 'key'] !== value)
  if (different === undefined) return state
  throw new ArgumentsError(
    `${statePath(file)} is of an import that did not end, with another ${different[0]}. ` +
      'Go on with the same as then, or delete it to begin anew: its rows would then be imported again.',
  )
}

/** Keeps the state so that either the former or the new one is there, whatever happens. */
export async function saveState(file: string, state: ImportState): Promise<void> {
  const aside = `${statePath(file)}.new`
  const handle = await open(aside, 'w', 0o600)
  try {
    await handle.writeFile(`${JSON.stringify(state)}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(aside, statePath(file))
}

export async function removeState(file: string): Promise<void> {
  await rm(statePath(file), { force: true })
}

/** The SHA-256 of a file, in hexadecimal. */
export async function fingerprintOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

const STALE_MILLISECONDS = 5_000

/**
 * Keeps a second import of the same file from running at the same time. The lock of one that was killed is
 * taken over once it is stale, which is waited for. Resolves to what releases it.
 *
 * @throws {ArgumentsError} when one is running
 */
export async function lockImport(file: string): Promise<() => Promise<void>> {
  const retries = { retries: 14, factor: 1, minTimeout: 500, maxTimeout: 500 }
  try {
    return await lock(file, { lockfilePath: `${file}.import-lock`, stale: STALE_MILLISECONDS, retries })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ELOCKED') throw error
    throw new ArgumentsError(`${file} is being imported by another process.`)
  }
}
