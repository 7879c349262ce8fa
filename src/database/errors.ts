import { PrismaClientKnownRequestError } from '@prisma/client/runtime/client'
import pg from 'pg'
import { DomainError } from '../model/errors.ts'

/**
 * SQLSTATEs of a server that cannot serve at present (PostgreSQL, appendix A): connection exception,
 * insufficient resources, operator intervention, system error; a database that does not exist, refuses connections,
 * or refuses the role; a lock timeout, a transaction timeout, and a standby or failing primary that refuses writes.
 */
const UNAVAILABLE = /^(?:08|28|53|57|58|3D000|55000|55P03|25P0[34]|25006)/

/** Prisma's code for a transaction that timed out. */
const PRISMA_TRANSACTION_TIMEOUT = 'P2028'

/** Prisma's code for PostgreSQL's serialization_failure, 40001. */
const PRISMA_WRITE_CONFLICT = 'P2034'

/**
 * Turns an error of a connection into SERVICE_UNAVAILABLE, unless PostgreSQL refused the statement. Only
 * PostgreSQL's errors have an SQLSTATE; all others are failures of the connection.
 */
export function connectionError(error: unknown): unknown {
  if (error instanceof DomainError) return error
  const isRefusal = error instanceof pg.DatabaseError && !UNAVAILABLE.test(error.code ?? '')
  return isRefusal ? error : unavailable(error)
}

/**
 * Whether a server that refused a connection may accept one later: it was not reached, or starts, stops or has no
 * connection left.
 */
export function isNotReachedYet(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(?:08|53|57P)/.test(error.code ?? '')
  if (error instanceof AggregateError) return error.errors.some(isNotReachedYet)
  return error instanceof Error && ('syscall' in error || /^(?:timeout|Connection term)/.test(error.message))
}

/**
 * Why the database was unavailable, by SQLSTATE (PostgreSQL, appendix A). A server that starts refuses like one that
 * shuts down (57P03).
 */
const REASONS = {
  connection: /^08/,
  timeout: /^(?:57014|55P03|25P0[34])/,
  shutdown: /^57P/,
  read_only: /^25006/,
  resources: /^(?:53|58)/,
}

export type FailureReason = keyof typeof REASONS
export const FAILURE_REASONS = Object.keys(REASONS) as FailureReason[]

/** The reason of an error that {@link connectionError} turns into SERVICE_UNAVAILABLE. */
export function failureReason(error: unknown): FailureReason {
  const state = error instanceof pg.DatabaseError ? (error.code ?? '') : ''
  const isLate = error instanceof Error && /\btimeout\b/i.test(error.message)
  return FAILURE_REASONS.find((reason) => REASONS[reason].test(state)) ?? (isLate ? 'timeout' : 'connection')
}

/** Turns an error of Prisma into SERVICE_UNAVAILABLE if it wraps one of the pool or is a timeout. */
export function prismaError(error: unknown): unknown {
  if (!(error instanceof PrismaClientKnownRequestError)) return error
  const isUnavailable = error.code === 'SERVICE_UNAVAILABLE' || error.code === PRISMA_TRANSACTION_TIMEOUT
  return isUnavailable ? unavailable(error.meta?.['cause'] ?? error) : error
}

/** For `catch` of a call of Prisma, whose other errors stay: a query extension would do it for all, for 30 µs of each. */
export function rejectUnavailable(error: unknown): never {
  throw prismaError(error)
}

/** The log shows the cause. Prisma passes on nothing but `meta`, which therefore repeats it. */
function unavailable(cause: unknown): DomainError {
  const error = new DomainError('SERVICE_UNAVAILABLE', 'The database does not answer; try again.')
  return Object.assign(error, { cause, meta: { cause } })
}

interface Refusal {
  /** The SQLSTATE (PostgreSQL, appendix A). */
  readonly state: string
  readonly constraint: string
}

/** Reads the refusal from an error of the driver or of Prisma; undefined for other errors. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof pg.DatabaseError) {
    return { state: error.code ?? '', constraint: error.constraint ?? '' }
  }
  if (!(error instanceof PrismaClientKnownRequestError)) return undefined
  // As the driver adapter passes PostgreSQL's error on.
  const { cause = {} } = (error.meta?.['driverAdapterError'] ?? {}) as {
    cause?: { originalCode?: string; constraint?: { index?: string } }
  }
  const state = cause.originalCode ?? (error.code === PRISMA_WRITE_CONFLICT ? '40001' : '')
  return { state, constraint: cause.constraint?.index ?? '' }
}
