import { DatabaseError } from 'pg'
import { Prisma } from '../database/generated/client.ts'
import { DomainError } from './model/errors.ts'
import { type Resource, tableName } from './model/resource.ts'
import { resources } from './resources/index.ts'
import { ParentMissing, RaceLost } from './retry.ts'
import { duplicateValue } from './unique.ts'

/** What PostgreSQL said, as the driver adapter hands it on inside Prisma's error. */
interface DriverCause {
  readonly originalCode?: string
  readonly constraint?: { readonly index?: string }
}

/** What PostgreSQL refused, by Prisma's name and by its own, which differ between its versions. */
const UNIQUE_VIOLATION = ['P2002', '23505']
const FOREIGN_KEY_VIOLATION = ['P2003', '23503', '23001']
const WRITE_CONFLICT = ['P2034']

const CHECK_VIOLATION = '23514'

const NUMERIC_VALUE_OUT_OF_RANGE = '22003'

/** PostgreSQL's serialization_failure and deadlock_detected. */
const RACES_LOST = new Set(['40001', '40P01'])

/**
 * What an error of a write means: a race lost, a value taken, a reference that leads nowhere, a stored row
 * that the service would refuse. Every other error comes back as it is.
 */
export function meaningOfWriteError(error: unknown, resource: Resource): unknown {
  const name = constraintOf(error)
  if (isRaceLost(error)) return new RaceLost()
  if (isKnown(error, UNIQUE_VIOLATION)) {
    if (name.endsWith('_pkey')) return new RaceLost()
    return duplicateValue(resource, constrainedLeaf(resource, name, 'key')?.name ?? '')
  }
  return isKnown(error, FOREIGN_KEY_VIOLATION) ? unknownReference(resource, name) : meaningOfCheck(error)
}

/** What an error of a deletion means: something still refers to the resource, or a race, or a stored row. */
export function meaningOfDeleteError(error: unknown): unknown {
  if (isRaceLost(error)) return new RaceLost()
  if (!isKnown(error, FOREIGN_KEY_VIOLATION)) return meaningOfCheck(error)
  const user = resources.find(({ path }) => constraintOf(error).startsWith(`${tableName(path)}_`))
  const message = `It cannot be deleted while ${user?.path ?? 'others'} refer to it.`
  return new DomainError('DEPENDENCY_CONFLICT', message, [{ field: 'id', code: 'RESOURCE_IN_USE', message }])
}

/** What an error of a read means: a number came out that none can hold. Every other error comes back. */
export function meaningOfReadError(error: unknown): unknown {
  if (driverCause(error).originalCode !== NUMERIC_VALUE_OUT_OF_RANGE) return error
  const message = 'A sum or an average of these numbers is larger than any number here can be.'
  return new DomainError('BUSINESS_RULE_VIOLATION', message)
}

/**
 * Bodies are checked before they are written. So this is a row that was stored before its constraint, and that
 * the write changes in another column: an astronaut whose mission ends.
 */
function meaningOfCheck(error: unknown): unknown {
  if (driverCause(error).originalCode !== CHECK_VIOLATION) return error
  const message = 'A stored resource that this would change is not valid itself; it must be corrected first.'
  return new DomainError('DEPENDENCY_CONFLICT', message)
}

/** Constraints are named `{table}_{column}_{kind}`, by Prisma and in our own migrations. */
function constrainedLeaf({ path, leaves }: Resource, constraint: string, kind: 'key' | 'fkey') {
  return leaves.find(({ column }) => constraint === `${tableName(path)}_${column}_${kind}`)
}

function unknownReference(resource: Resource, constraint: string): unknown {
  const leaf = constrainedLeaf(resource, constraint, 'fkey')
  // The guard found the resource referred to, and it was deleted since: the next attempt will know.
  if (leaf?.field.type === 'reference') return new RaceLost()
  return new ParentMissing()
}

function isRaceLost(error: unknown): boolean {
  return isKnown(error, WRITE_CONFLICT) || RACES_LOST.has(driverCause(error).originalCode ?? '')
}

function isKnown(error: unknown, codes: readonly string[]): boolean {
  const isKind = error instanceof Prisma.PrismaClientKnownRequestError || error instanceof DatabaseError
  return isKind && codes.includes(error.code ?? '')
}

function constraintOf(error: unknown): string {
  return driverCause(error).constraint?.index ?? ''
}

function driverCause(error: unknown): DriverCause {
  if (error instanceof DatabaseError) {
    return { originalCode: error.code ?? '', constraint: { index: error.constraint ?? '' } }
  }
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return {}
  const adapterError = error.meta?.['driverAdapterError'] as { cause?: DriverCause } | undefined
  return adapterError?.cause ?? {}
}
