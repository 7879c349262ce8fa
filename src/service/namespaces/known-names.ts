import type { Database } from '../../database/database.ts'
import { type Registry, readServed } from '../../database/namespaces/registry.ts'

/** How long the names and addresses of namespaces are kept. */
const KEPT_MILLISECONDS = 2_000

/**
 * Makes the function that says which namespaces there are. A failure keeps what is known.
 *
 * @param main has the registry
 * @param read called each time that it was read
 */
export function knownNames(main: Database, read: (known: Registry) => void): () => Promise<Registry> {
  let latest: { readonly known: Registry; readonly readAt: number } | undefined
  let reading: Promise<Registry> | undefined

  async function readNames(): Promise<Registry> {
    const send = (text: string, values: readonly unknown[]) => main.client.$rows<object>({ text, values })
    const { schema, connectionString } = main.connection
    const known = await readServed(send, schema, String(connectionString))
    latest = { known, readAt: performance.now() }
    read(known)
    return known
  }

  return async () => {
    if (latest && performance.now() - latest.readAt < KEPT_MILLISECONDS) return latest.known
    reading ??= readNames().finally(() => {
      reading = undefined
    })
    return reading.catch((error) => latest?.known ?? Promise.reject(error))
  }
}
