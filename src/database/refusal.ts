import pg from 'pg'
import { Prisma } from './generated/client.ts'

/** Why PostgreSQL refused a statement. */
export interface Refusal {
  /** The SQLSTATE (PostgreSQL, appendix A). */
  readonly state: string
  /** The constraint that the statement violates, if it does. */
  readonly constraint: string
}

/** How the driver adapter passes PostgreSQL's error on inside Prisma's. */
interface AdapterCause {
  readonly originalCode?: string
  readonly constraint?: { readonly index?: string }
}

/** Prisma's code for a transaction that was rolled back because of another one; PostgreSQL's is 40001. */
const PRISMA_WRITE_CONFLICT = 'P2034'

/** Why PostgreSQL refused a statement, from the error of the driver or of Prisma; undefined for other errors. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof pg.DatabaseError) {
    return { state: error.code ?? '', constraint: error.constraint ?? '' }
  }
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return undefined
  const { cause = {} } = (error.meta?.['driverAdapterError'] ?? {}) as { cause?: AdapterCause }
  const state = cause.originalCode ?? (error.code === PRISMA_WRITE_CONFLICT ? '40001' : '')
  return { state, constraint: cause.constraint?.index ?? '' }
}
