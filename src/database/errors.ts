import { PrismaClientKnownRequestError } from '@prisma/client/runtime/client'
import pg from 'pg'
import { DomainError } from '../model/errors.ts'

/**
 * Why a server cannot serve at present, by SQLSTATE (PostgreSQL, appendix A). `connection` includes a refused role, and
 * a database that does not exist or refuses connections; `shutdown` includes a server that is starting.
 */
const REASONS = {
  connection: /^(?:08|28|57000|3D000|55000)/,
  timeout: /^(?:57014|55P03|25P0[34])/,
  shutdown: /^57P/,
  read_only: /^25006/,
  resources: /^(?:53|58)/,
}

export type FailureReason = keyof typeof REASONS
export const FAILURE_REASONS = Object.keys(REASONS) as FailureReason[]

/** Returns SERVICE_UNAVAILABLE, unless PostgreSQL refused the statement. */
export function connectionError(error: unknown): unknown {
  if (error instanceof DomainError) return error
  const isRefusal = error instanceof pg.DatabaseError && reasonOf(error) === undefined
  return isRefusal ? withConstraint(error) : unavailable(error)
}

/** Citus appends the number of a part of the table, and names the constraint of another node only in the message. */
function withConstraint(error: pg.DatabaseError): pg.DatabaseError {
  const name = error.constraint ?? /constraint "([^"]+)"/.exec(error.message)?.[1]
  error.constraint = name?.replace(/_\d{6,}$/, '')
  return error
}

/** Whether a server may accept a connection later: it was not reached, is starting or stopping, or has no connection left. */
export function isNotReachedYet(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(?:08|53|57P)/.test(error.code ?? '')
  if (error instanceof AggregateError) return error.errors.some(isNotReachedYet)
  return error instanceof Error && ('syscall' in error || /^(?:timeout|Connection term)/.test(error.message))
}

function reasonOf({ code = '' }: pg.DatabaseError): FailureReason | undefined {
  return FAILURE_REASONS.find((reason) => REASONS[reason].test(code))
}

/** The reason of an error that {@link connectionError} turns into SERVICE_UNAVAILABLE. */
export function failureReason(error: unknown): FailureReason {
  const isLate = error instanceof Error && /\btimeout\b/i.test(error.message)
  const reason = error instanceof pg.DatabaseError ? reasonOf(error) : undefined
  return reason ?? (isLate ? 'timeout' : 'connection')
}

/** Returns SERVICE_UNAVAILABLE if the error wraps one of the pool, or a transaction timed out (P2028). */
export function prismaError(error: unknown): unknown {
  if (!(error instanceof PrismaClientKnownRequestError)) return error
  const isUnavailable = error.code === 'SERVICE_UNAVAILABLE' || error.code === 'P2028'
  return isUnavailable ? unavailable(error.meta?.['cause'] ?? error) : error
}

/** For `catch` of each Prisma call. A query extension could replace that, but costs 30 µs for each call. */
export function rejectUnavailable(error: unknown): never {
  throw prismaError(error)
}

/** The log shows the cause. `meta` repeats it, because Prisma passes on nothing else. */
function unavailable(cause: unknown): DomainError {
  const error = new DomainError('SERVICE_UNAVAILABLE', 'The database is not responding; try again.')
  return Object.assign(error, { cause, meta: { cause } })
}

/** The SQLSTATE and the constraint of a refusal, from an error of the driver or of Prisma; empty for other errors. */
export function refusalOf(error: unknown) {
  if (error instanceof pg.DatabaseError)
    return { state: error.code ?? '', constraint: error.constraint ?? '' }
  const isOfPrisma = error instanceof PrismaClientKnownRequestError
  // PostgreSQL's error, as the driver adapter passes it on. Prisma wraps all but that of a COMMIT.
  const passedOn = isOfPrisma ? error.meta?.['driverAdapterError'] : error
  const { name, cause = {} } = (passedOn ?? {}) as {
    name?: string
    cause?: { originalCode?: string; constraint?: { index?: string } }
  }
  if (!isOfPrisma && name !== 'DriverAdapterError') return { state: '', constraint: '' }
  // P2034: serialization_failure.
  const state = cause.originalCode ?? (isOfPrisma && error.code === 'P2034' ? '40001' : '')
  return { state, constraint: cause.constraint?.index ?? '' }
}
