import { DatabaseError } from 'pg'
import { DomainError } from '../domain/model/errors.ts'
import { Prisma } from './generated/client.ts'

/** The connection to the database failed, whatever was to be done with it. */
export class ConnectionTrouble extends Error {
  override readonly name = 'ConnectionTrouble'

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

/**
 * SQLSTATEs of a server that cannot serve now, though it might soon (PostgreSQL, appendix A): connection
 * exception, insufficient resources (disk full, out of memory, too many connections), operator
 * intervention (shutdown, cancelled by a timeout), system error; a lock that did not come, a transaction
 * that was idle or ran for too long, and a standby or a failing primary that takes no writes.
 */
const STATES = /^(?:08|53|57|58|55P03|25P0[34]|25006)/

/** Prisma's codes for the same: unreachable, timed out, closed, no connection or transaction in time. */
const PRISMA_CODES = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2037'])

/** Kinds of the driver adapter's errors that reach us without a code of Prisma's. */
const KINDS = new Set([
  'SocketTimeout',
  'DatabaseNotReachable',
  'ConnectionClosed',
  'TooManyConnections',
  'TlsConnectionError',
])

interface DriverCause {
  readonly kind?: string
  readonly code?: string
  readonly originalCode?: string
}

/**
 * What an error means to whoever asked: that the database is in trouble, if it is that, or the error as
 * it stands. The cause is kept for the log.
 *
 * @returns a DomainError SERVICE_UNAVAILABLE (503), or the same error
 */
export function meaningOfTrouble(error: unknown): unknown {
  if (!isTrouble(error)) return error
  const meaning = new DomainError('SERVICE_UNAVAILABLE', 'The database does not answer; try again.')
  meaning.cause = error
  return meaning
}

function isTrouble(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ConnectionTrouble) return true
    if (cause instanceof Prisma.PrismaClientKnownRequestError && PRISMA_CODES.has(cause.code)) return true
    const { kind = '', code = '', originalCode = code } = driverCause(cause)
    if (KINDS.has(kind) || STATES.test(originalCode)) return true
  }
  return false
}

function driverCause(error: Error): DriverCause {
  if (error instanceof DatabaseError) return error.code === undefined ? {} : { originalCode: error.code }
  const meta = (error as { meta?: { driverAdapterError?: { cause?: DriverCause } } }).meta
  if (meta?.driverAdapterError?.cause) return meta.driverAdapterError.cause
  return error.name === 'DriverAdapterError' ? ((error.cause ?? {}) as DriverCause) : {}
}
