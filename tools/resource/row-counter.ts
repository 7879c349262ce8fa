import { Client, type DatabaseError, type QueryResult } from 'pg'
import { type Connection, parseConnection } from '../../src/database/connection.ts'
import { openSharedEmbedded } from '../../src/database/embedded/embedded-database.ts'
import { isMissing } from '../../src/database/embedded/folder.ts'
import { localStatements } from '../../src/database/session.ts'
import { databaseConfiguration } from '../../src/service/command.ts'
import type { Count } from './changes/narrowing.ts'

/**
 * Counts in the database of the settings, which is opened for the first question. One that does not respond, or does not
 * exist yet, counts nothing. The reason is printed.
 */
export function createRowCounter() {
  let session: ReturnType<typeof openSession> | undefined
  const count: Count = async (query) => {
    session ??= openSession().catch((error: Error) => {
      console.error(`The rows of the database were not counted: ${error.message}`)
      return undefined
    })
    return (await session)?.query(query)
  }
  return { count, close: async () => (await session)?.close() }
}

/** Undefined where the service has not run yet. */
async function openSession() {
  const { databaseUrl, ...settings } = (await databaseConfiguration()).settings
  if (databaseUrl !== undefined) return connect(parseConnection(databaseUrl))
  if (isMissing(settings.dataDir)) return undefined
  const embedded = await openSharedEmbedded(settings.dataDir, settings)
  return connect(embedded.connection, embedded.close)
}

async function connect(connection: Connection, release = async () => {}) {
  const client = new Client(connection)
  try {
    await client.connect()
  } catch (error) {
    await client.end().catch(() => {})
    await release()
    throw error
  }
  return {
    async query(text: string) {
      try {
        const results: unknown = await client.query([...localStatements(connection.schema), text].join(';'))
        return (results as QueryResult<{ count: number }>[]).at(-1)?.rows[0]?.count
      } catch (error) {
        // A database that lacks the table or a column has no such rows.
        if (UNDEFINED.includes((error as DatabaseError).code ?? '')) return undefined
        throw error
      }
    },
    close: async () => {
      await client.end()
      await release()
    },
  }
}

/** PostgreSQL's undefined_table, undefined_column and undefined_function. */
const UNDEFINED = ['42P01', '42703', '42883']
