import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { DatabaseRefusedError } from '../connection.ts'

export interface ThreadData {
  readonly dataFolder: string
  /** The timeout in milliseconds is how long clients wait for the database. */
  readonly socket?: { readonly path: string; readonly timeout: number }
  readonly fsync: boolean
}

/**
 * A later failure is an uncaught exception, because the process cannot work without its database.
 *
 * @throws DatabaseRefusedError if the database does not open
 */
export async function startThread(data: ThreadData): Promise<Worker> {
  const worker = new Worker(new URL('worker.js', import.meta.url), { workerData: data })
  const exited = once(worker, 'exit').then(() => {
    throw new Error('its thread ended')
  })
  try {
    await Promise.race([once(worker, 'message'), exited])
  } catch (cause) {
    await worker.terminate()
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new DatabaseRefusedError(
      `The embedded database in ${data.dataFolder} does not open (${reason}). It is unchanged. ` +
        'Restore a backup of the folder, or move it away to start with an empty one.',
      { cause },
    )
  } finally {
    exited.catch(() => {})
  }
  worker.once('exit', (code) => {
    if (code !== 0)
      throw new Error(`The embedded database in ${data.dataFolder} has failed; restart to recover it`)
  })
  return worker
}

export async function stopThread(worker: Worker): Promise<void> {
  const exited = once(worker, 'exit')
  worker.postMessage('close')
  await exited
}
