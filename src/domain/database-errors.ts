import { isConflict } from '../database/conflicts.ts'
import { prismaError, refusalOf } from '../database/errors.ts'
import { type Resource, tableName } from '../model/definition/resource.ts'
import { uniqueIndexName, uniqueLeaves } from '../model/definition/uniqueness.ts'
import { DomainError, errorAt } from '../model/errors.ts'
import type { WriteContext } from './context.ts'
import { duplicateValue } from './rules.ts'
import { ParentNotFound, TransactionEnded, WriteConflict } from './transaction.ts'

const UNIQUE_VIOLATION = '23505'
const FOREIGN_KEY_VIOLATIONS = ['23503', '23001']
const CHECK_VIOLATION = '23514'
/** The class of values that do not fit: an overflow, a division by zero. */
const DATA_EXCEPTION = '22'

/** PostgreSQL's program_limit_exceeded: a value does not fit into an entry of its index. */
const LIMIT_EXCEEDED = '54000'

/** Maps an error to a conflict, a duplicate value, a missing parent, an invalid stored row or SERVICE_UNAVAILABLE. */
export function writeError(error: unknown, resource: Resource): unknown {
  const { state, constraint } = refusalOf(error)
  if (isConflict(error)) return new WriteConflict()
  if (FOREIGN_KEY_VIOLATIONS.includes(state)) return unknownReference(resource, constraint)
  const computed = computedProblem(resource, state, constraint)
  if (computed) return computed
  if (state === LIMIT_EXCEEDED) return tooLongForIndex(resource)
  if (state !== UNIQUE_VIOLATION) return checkViolation(error)
  if (constraint.endsWith('_pkey')) return new WriteConflict()
  const duplicate = resource.leaves.find((leaf) => {
    const leaves = uniqueLeaves(resource, leaf)
    return leaves && uniqueIndexName(resource, leaves) === constraint
  })
  return duplicateValue(resource, duplicate?.name ?? '')
}

/**
 * The error for a computed value that does not fit its field; undefined if the SQLSTATE has another cause. Values of a body
 * have been checked, so only computed ones can fail. PostgreSQL names the column only if a constraint refuses it.
 */
function computedProblem({ path, leaves }: Resource, state: string, constraint: string) {
  const computed = leaves.filter(({ field }) => field.computed !== undefined)
  const refused = computed.filter(({ column }) => `${tableName(path)}_${column}_check` === constraint)
  const names = (state.startsWith(DATA_EXCEPTION) ? computed : refused).map(({ name }) => name)
  if (names.length === 0) return undefined
  const message = `${names.join(' or ')} cannot be computed from these values.`
  const details = names.map((field) => ({ field, code: 'OUT_OF_RANGE', message }))
  return new DomainError('BUSINESS_RULE_VIOLATION', message, details)
}

/** An entry has 2,700 bytes, after compression. PostgreSQL does not name the column. */
function tooLongForIndex({ leaves }: Resource): DomainError {
  const indexed = leaves.filter(({ field }) => 'maximumLength' in field && (field.unique || field.index))
  const message = `${indexed.map(({ name }) => name).join(' or ')} is too long for its index.`
  const details = indexed.map(({ name }) => ({ field: name, code: 'TOO_LONG', message }) as const)
  return new DomainError('VALIDATION_FAILED', message, details)
}

/** @throws {TransactionEnded} if PostgreSQL refused a statement without a savepoint, or because of another transaction */
export function refuseToGoOn({ transaction }: WriteContext, error: unknown): void {
  const { state } = refusalOf(error)
  if (!transaction || state === '') return
  if (!transaction.hasSavepoints || isConflict(error)) throw new TransactionEnded()
}

/** Like {@link writeError}, for a deletion: the resource can be in use. */
export function deletionError(error: unknown, resources: readonly Resource[]): unknown {
  const { state, constraint } = refusalOf(error)
  if (isConflict(error)) return new WriteConflict()
  if (!FOREIGN_KEY_VIOLATIONS.includes(state)) return checkViolation(error)
  const user = resources.find(({ path }) => constraint.startsWith(`${tableName(path)}_`))
  const message = `It cannot be deleted while ${user?.path ?? 'other resources'} refer to it.`
  return errorAt('id', 'RESOURCE_IN_USE', 'DEPENDENCY_CONFLICT', message)
}

/**
 * Bodies are checked before writes, so the row was stored before its constraint, and the write changes another column of it:
 * that of an astronaut whose mission ends, for example.
 */
function checkViolation(error: unknown): unknown {
  if (refusalOf(error).state !== CHECK_VIOLATION) return prismaError(error)
  const message = 'The request would change a stored resource that is not valid. Correct that resource first.'
  return new DomainError('DEPENDENCY_CONFLICT', message)
}

/** Foreign keys are named `{table}_{column}_fkey`. */
function unknownReference({ path, leaves }: Resource, constraint: string): unknown {
  const leaf = leaves.find(({ column }) => `${tableName(path)}_${column}_fkey` === constraint)
  // The target was deleted after the rule was checked. The next attempt reports it.
  if (leaf?.field.type === 'reference') return new WriteConflict()
  return new ParentNotFound()
}
