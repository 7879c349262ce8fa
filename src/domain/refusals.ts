import { refusalOf } from '../database/errors.ts'
import { DomainError } from './model/errors.ts'
import { type Resource, tableName } from './model/resource.ts'
import { resources } from './resources/index.ts'
import { ParentNotFound, WriteConflict } from './retry.ts'
import { duplicateValue } from './unique.ts'

const UNIQUE_VIOLATION = '23505'
const FOREIGN_KEY_VIOLATIONS = ['23503', '23001']
const CHECK_VIOLATION = '23514'
const NUMERIC_VALUE_OUT_OF_RANGE = '22003'

/** PostgreSQL's serialization_failure and deadlock_detected. */
const WRITE_CONFLICTS = ['40001', '40P01']

/**
 * What an error of a write means: a conflict with another write, a value taken, a reference that leads nowhere,
 * a stored row that the service would refuse. Every other error comes back as it is.
 */
export function writeError(error: unknown, resource: Resource): unknown {
  const { state, constraint } = refusalOf(error) ?? NONE
  if (WRITE_CONFLICTS.includes(state)) return new WriteConflict()
  if (FOREIGN_KEY_VIOLATIONS.includes(state)) return unknownReference(resource, constraint)
  if (state !== UNIQUE_VIOLATION) return meaningOfCheck(error)
  if (constraint.endsWith('_pkey')) return new WriteConflict()
  return duplicateValue(resource, constrainedLeaf(resource, constraint, 'key')?.name ?? '')
}

/** What an error of a deletion means: another resource refers to this one, or a conflict, or a stored row. */
export function deletionError(error: unknown): unknown {
  const { state, constraint } = refusalOf(error) ?? NONE
  if (WRITE_CONFLICTS.includes(state)) return new WriteConflict()
  if (!FOREIGN_KEY_VIOLATIONS.includes(state)) return meaningOfCheck(error)
  const user = resources.find(({ path }) => constraint.startsWith(`${tableName(path)}_`))
  const message = `It cannot be deleted while ${user?.path ?? 'others'} refer to it.`
  return new DomainError('DEPENDENCY_CONFLICT', message, [{ field: 'id', code: 'RESOURCE_IN_USE', message }])
}

/** What an error of a read means: a number came out that none can hold. Every other error comes back. */
export function readError(error: unknown): unknown {
  if (refusalOf(error)?.state !== NUMERIC_VALUE_OUT_OF_RANGE) return error
  const message = 'A sum or an average of these numbers is larger than any number here can be.'
  return new DomainError('BUSINESS_RULE_VIOLATION', message)
}

const NONE = { state: '', constraint: '' }

/**
 * Bodies are checked before they are written. So this is a row that was stored before its constraint, and that
 * the write changes in another column: an astronaut whose mission ends.
 */
function meaningOfCheck(error: unknown): unknown {
  if (refusalOf(error)?.state !== CHECK_VIOLATION) return error
  const message = 'A stored resource that this would change is not valid itself; it must be corrected first.'
  return new DomainError('DEPENDENCY_CONFLICT', message)
}

/** Constraints are named `{table}_{column}_{kind}`, by Prisma and in our own migrations. */
function constrainedLeaf({ path, leaves }: Resource, constraint: string, kind: 'key' | 'fkey') {
  return leaves.find(({ column }) => constraint === `${tableName(path)}_${column}_${kind}`)
}

function unknownReference(resource: Resource, constraint: string): unknown {
  const leaf = constrainedLeaf(resource, constraint, 'fkey')
  // The rule found the resource referred to, and it was deleted since: the next attempt will know.
  if (leaf?.field.type === 'reference') return new WriteConflict()
  return new ParentNotFound()
}
