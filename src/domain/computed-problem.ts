import { DomainError } from '../model/errors.ts'
import { type Resource, tableName } from '../model/resource.ts'

/** The class of SQLSTATE for values that do not fit: an overflow, a division by zero. */
const DATA_EXCEPTION = '22'

/**
 * The error for a computed value that does not fit its field; undefined if another problem has this SQLSTATE. The values of
 * a body fit their fields, so the value is computed from them. PostgreSQL names the column only where a constraint refuses
 * it.
 */
export function computedProblem(
  { path, leaves }: Resource,
  state: string,
  constraint: string,
): DomainError | undefined {
  const computed = leaves.filter(({ field }) => field.computed !== undefined)
  const refused = computed.filter(({ column }) => `${tableName(path)}_${column}_check` === constraint)
  const isUnfit = state.startsWith(DATA_EXCEPTION)
  const [first, ...others] = isUnfit ? computed : refused
  if (!first) return undefined
  const names = [first, ...others].map(({ name }) => name)
  const message = `${names.join(' or ')} cannot be computed from these values.`
  const details = names.map((field) => ({ field, code: 'OUT_OF_RANGE' as const, message }))
  return new DomainError('BUSINESS_RULE_VIOLATION', message, details)
}
