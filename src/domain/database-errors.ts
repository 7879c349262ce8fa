import { prismaError, refusalOf } from '../database/errors.ts'
import { DomainError, errorAt } from '../model/errors.ts'
import { type Resource, tableName } from '../model/resource.ts'
import { uniqueIndexName, uniqueLeaves } from '../model/uniqueness.ts'
import { computedProblem } from './computed-problem.ts'
import type { WriteContext } from './context.ts'
import { ParentNotFound, WriteConflict } from './retry.ts'
import { duplicateValue } from './rules.ts'
import { TransactionEnded } from './transaction.ts'

const UNIQUE_VIOLATION = '23505'
const FOREIGN_KEY_VIOLATIONS = ['23503', '23001']
const CHECK_VIOLATION = '23514'
const NUMERIC_VALUE_OUT_OF_RANGE = '22003'

/** PostgreSQL's serialization_failure and deadlock_detected. */
const WRITE_CONFLICTS = ['40001', '40P01']

/** Makes a conflict, a duplicate value, a missing parent, an invalid stored row or SERVICE_UNAVAILABLE of an error. */
export function writeError(error: unknown, resource: Resource): unknown {
  const { state, constraint } = refusalOf(error) ?? NONE
  if (WRITE_CONFLICTS.includes(state)) return new WriteConflict()
  if (FOREIGN_KEY_VIOLATIONS.includes(state)) return unknownReference(resource, constraint)
  const computed = computedProblem(resource, state, constraint)
  if (computed) return computed
  if (state !== UNIQUE_VIOLATION) return checkViolation(error)
  if (constraint.endsWith('_pkey')) return new WriteConflict()
  const duplicate = resource.leaves.find((leaf) => {
    const leaves = uniqueLeaves(resource, leaf)
    return leaves && uniqueIndexName(resource, leaves) === constraint
  })
  return duplicateValue(resource, duplicate?.name ?? '')
}

/**
 * Passes on only errors after which the transaction of several writes can go on.
 *
 * @throws {TransactionEnded} if PostgreSQL refused a statement without a savepoint, or because of another transaction
 */
export function refuseToGoOn({ transaction }: WriteContext, error: unknown): void {
  const { state } = refusalOf(error) ?? NONE
  if (!transaction || state === '') return
  if (!transaction.hasSavepoints || WRITE_CONFLICTS.includes(state)) throw new TransactionEnded()
}

/** As {@link writeError}, for a deletion: a resource can be in use. */
export function deletionError(error: unknown, resources: readonly Resource[]): unknown {
  const { state, constraint } = refusalOf(error) ?? NONE
  if (WRITE_CONFLICTS.includes(state)) return new WriteConflict()
  if (!FOREIGN_KEY_VIOLATIONS.includes(state)) return checkViolation(error)
  const user = resources.find(({ path }) => constraint.startsWith(`${tableName(path)}_`))
  const message = `It cannot be deleted while ${user?.path ?? 'others'} refer to it.`
  return errorAt('id', 'RESOURCE_IN_USE', 'DEPENDENCY_CONFLICT', message)
}

/** Whether doubles overflowed. */
export function isOverflow(error: unknown): boolean {
  return refusalOf(error)?.state === NUMERIC_VALUE_OUT_OF_RANGE
}

const NONE = { state: '', constraint: '' }

/**
 * Bodies are checked before writes. So the violation is of a row that was stored before its constraint and
 * that the write changes in another column, such as an astronaut whose mission ends.
 */
function checkViolation(error: unknown): unknown {
  if (refusalOf(error)?.state !== CHECK_VIOLATION) return prismaError(error)
  const message = 'The request would change a stored resource that is not valid. Correct that resource first.'
  return new DomainError('DEPENDENCY_CONFLICT', message)
}

/** Foreign keys are named `{table}_{column}_fkey`. */
function unknownReference({ path, leaves }: Resource, constraint: string): unknown {
  const leaf = leaves.find(({ column }) => `${tableName(path)}_${column}_fkey` === constraint)
  // The target existed when the rule was checked, and was deleted since; the next attempt reports this.
  if (leaf?.field.type === 'reference') return new WriteConflict()
  return new ParentNotFound()
}
