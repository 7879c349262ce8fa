import { PrismaPg } from '@prisma/adapter-pg'
import { type Pool, types } from 'pg'
import { KINDS } from '../model/definition/fields.ts'
import { inYears } from '../model/kinds/timestamp.ts'
import type { AbandonedSessions } from './abandoned-sessions.ts'
import type { Connection } from './connection.ts'
import { DatabaseClient } from './database-client.ts'
import type { PrismaClient } from './generated/client.ts'
import { type Statement, statementName } from './sql/statement.ts'

export interface DatabaseUse {
  readonly PrismaClient: typeof PrismaClient
  readonly databasePoolSize: number
  /** In milliseconds, for a statement, a transaction, or the wait for a connection. */
  readonly databaseTimeout: number
}

/** Connections to the embedded database cannot prepare statements, because they share one session. */
export function createClient(
  pool: Pool & { readonly abandoned: Pick<AbandonedSessions, 'count'> },
  { schema, isEmbedded }: Connection,
  { PrismaClient, databaseTimeout: timeout }: DatabaseUse,
): DatabaseClient {
  const nameOf = isEmbedded ? undefined : statementName
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool, {
      ...(nameOf && { statementNameGenerator: nameOf }),
      ...(schema !== undefined && { schema }),
    }),
    // Otherwise each call captures its stack for an error message that is never shown.
    errorFormat: 'minimal',
    transactionOptions: { maxWait: timeout, timeout },
  })
  const send = async <Result>(statement: Statement): Promise<Result[]> => {
    const { text, values, isPlannedEachTime, isDeferrable } = statement
    if (isDeferrable && pool.abandoned.count > 0) return []
    const name = isPlannedEachTime ? '' : nameOf?.({ sql: text })
    return (await pool.query({ name, text, values: values as unknown[] })).rows as Result[]
  }
  return new DatabaseClient(prisma, send)
}

/** `2031-04-05 06:07:08.9+00`: PostgreSQL's format of a timestamp in a session with the time zone UTC. */
const UTC_TIMESTAMP = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,3})?\+00$/

const parseAny = types.getTypeParser(types.builtins.TIMESTAMPTZ)

/**
 * Takes a third of the driver's time, by converting to ECMAScript's format. The 40 timestamps of a list of 20 were its
 * largest cost after the sockets.
 */
export function parseTimestamptz(text: string): Date {
  if (!UTC_TIMESTAMP.test(text)) return inYears(text) === text ? parseAny(text) : new Date(inYears(text))
  return new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`)
}

types.setTypeParser(types.builtins.TIMESTAMPTZ, parseTimestamptz)
for (const { dataType, fromDatabase } of KINDS) {
  const name = dataType === 'double precision' ? 'FLOAT8' : dataType.toUpperCase()
  if (fromDatabase) types.setTypeParser(types.builtins[name as keyof typeof types.builtins], fromDatabase)
}
