import pg from 'pg'
import { DomainError } from '../domain/model/errors.ts'
import { Prisma } from './generated/client.ts'

/**
 * SQLSTATEs of a server that cannot serve now, though it might soon (PostgreSQL, appendix A): connection
 * exception, insufficient resources (disk full, out of memory, too many connections), operator
 * intervention (shutdown, cancelled by a timeout), system error; a lock that did not come, a transaction
 * that was idle or ran for too long, and a standby or a failing primary that takes no writes.
 */
const STATES = /^(?:08|53|57|58|55P03|25P0[34]|25006)/

/**
 * What an error of a connection means: SERVICE_UNAVAILABLE, or PostgreSQL's own error where it refused the
 * statement. PostgreSQL's errors have an SQLSTATE; all others are failures of the connection.
 */
export function connectionError(error: unknown): unknown {
  if (error instanceof DomainError) return error
  const isRefusal = error instanceof pg.DatabaseError && !STATES.test(error.code ?? '')
  return isRefusal ? error : unavailable(error)
}

/** Prisma's own deadline for a transaction. */
const TRANSACTION_LATE = 'P2028'

/** What an error of Prisma means: Prisma makes one of its own of each error that has a code, as the pool's has. */
export function prismaError(error: unknown): unknown {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return error
  const isOurs = error.code === 'SERVICE_UNAVAILABLE' || error.code === TRANSACTION_LATE
  return isOurs ? unavailable(error.meta?.['cause'] ?? error) : error
}

/** The cause is kept for the log, and in `meta` as well, which is all that Prisma passes on of it. */
function unavailable(cause: unknown): DomainError {
  const error = new DomainError('SERVICE_UNAVAILABLE', 'The database does not answer; try again.')
  return Object.assign(error, { cause, meta: { cause } })
}
