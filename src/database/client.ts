import { PrismaPg } from '@prisma/adapter-pg'
import { type CustomTypesConfig, type Pool, types as parsers } from 'pg'
import { KINDS } from '../model/kinds/index.ts'
import type { Connection } from './connection.ts'
import { type Client, extend } from './extension.ts'
import type { PrismaClient } from './generated/client.ts'
import { type Statement, statementName } from './sql/statement.ts'

export type { Client }

/** The client of a database, outside transactions. */
export type DatabaseClient = Pick<PrismaClient, '$transaction' | '$disconnect'> & Client

export type PrismaClientClass = typeof PrismaClient

/** How to use a database, as the settings name it. */
export interface DatabaseUse {
  readonly PrismaClient: PrismaClientClass
  readonly databasePoolSize: number
  /** In milliseconds, for a statement, a transaction, or the wait for a connection. */
  readonly databaseTimeout: number
}

/**
 * Creates a client that uses a connection pool. Connections to the embedded database cannot prepare statements, because
 * they share one session.
 */
export function createClient(
  pool: Pool,
  { schema, isEmbedded }: Connection,
  { PrismaClient, databaseTimeout: timeout }: DatabaseUse,
): DatabaseClient {
  const nameOf = isEmbedded ? () => '' : statementName
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool, {
      statementNameGenerator: nameOf,
      ...(schema !== undefined && { schema }),
    }),
    // Otherwise each call captures its stack for an error message that is never shown.
    errorFormat: 'minimal',
    transactionOptions: { maxWait: timeout, timeout },
  })
  const send = async <Result>({ text, values, isPlannedEachTime }: Statement): Promise<Result[]> => {
    const name = isPlannedEachTime ? '' : nameOf({ sql: text })
    return (await pool.query({ name, text, values: values as unknown[], types })).rows as Result[]
  }
  return extend(prisma, send) as unknown as DatabaseClient
}

/** `2031-04-05 06:07:08.9+00`: PostgreSQL's format of a timestamp in a session with the time zone UTC. */
const UTC_TIMESTAMP = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,3})?\+00$/

const TIMESTAMPTZ = parsers.builtins.TIMESTAMPTZ
const parseAny = parsers.getTypeParser(TIMESTAMPTZ)

/**
 * Parses a timestamp by conversion to the Date Time String Format of ECMAScript, in a third of the driver's
 * time. A list of 20 has 40 timestamps, which were its largest cost after the sockets. The driver parses
 * other formats.
 */
export function parseTimestamptz(text: string): Date {
  if (!UTC_TIMESTAMP.test(text)) return parseAny(text)
  return new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`)
}

/** The parsers of the kinds of fields whose types the driver parses otherwise, by the type's number. */
const OWN_PARSERS = new Map<number, (text: string) => unknown>([
  [TIMESTAMPTZ, parseTimestamptz],
  ...KINDS.flatMap(({ dataType, fromDatabase }): [number, (text: string) => unknown][] => {
    const type = parsers.builtins[dataType.toUpperCase() as keyof typeof parsers.builtins]
    return fromDatabase ? [[type, fromDatabase]] : []
  }),
])

/** The driver's parsers of text values, with some of our own. */
const types: CustomTypesConfig = {
  getTypeParser: ((oid: number) =>
    OWN_PARSERS.get(oid) ?? parsers.getTypeParser(oid)) as CustomTypesConfig['getTypeParser'],
}
