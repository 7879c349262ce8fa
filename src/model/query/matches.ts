import { kindOf } from '../fields.ts'
import type { Kind } from '../kinds/kind.ts'
import type { TextField } from '../kinds/text.ts'
import type { Leaf, Resource } from '../resource.ts'
import type { Columns } from '../row.ts'
import type { Operator } from './operators.ts'
import { type Filter, leafNamed } from './query.ts'

/** Lowers the case of a text as the database does. */
export type LowerCase = (text: string) => string

/**
 * Whether a resource matches a filter, as with the condition of `database/sql/filter.ts`.
 *
 * @param row the columns of the resource, with the values that statements return
 * @throws {TypeError} for a condition that needs other rows or an index: over a relation, or of a search
 */
export function matches(resource: Resource, filter: Filter, row: Columns, lower: LowerCase): boolean {
  if ('not' in filter) return !matches(resource, filter.not, row, lower)
  if ('all' in filter) return filter.all.every((part) => matches(resource, part, row, lower))
  if ('any' in filter) return filter.any.some((part) => matches(resource, part, row, lower))
  if (!('field' in filter)) throw new TypeError('This condition cannot be checked on one row.')
  const { operator, value } = filter
  if (operator === 'notEquals') return !matches(resource, { ...filter, operator: 'equals' }, row, lower)
  const { column, field } = leafNamed(resource, filter.field)
  const other = (field as TextField).alsoMatches
  const columns = other && (operator === 'equals' || operator === 'in') ? [column, other] : [column]
  return columns.some((one) => {
    const own = row[one] ?? null
    if (operator === 'isSet') return (own !== null) === value
    return own !== null && HOLDS[operator]({ field, kind: kindOf(field), lower }, own, value)
  })
}

interface Comparison {
  readonly field: Leaf['field']
  readonly kind: Kind<Leaf['field']>
  readonly lower: LowerCase
}

/** For values that are set. */
const HOLDS: Readonly<
  Record<Exclude<Operator, 'notEquals' | 'isSet'>, (by: Comparison, own: unknown, value: unknown) => boolean>
> = {
  equals: (by, own, value) => compared(by, own, value) === 0,
  in: (by, own, values) => (values as unknown[]).some((value) => compared(by, own, value) === 0),
  gt: (by, own, value) => compared(by, own, value) > 0,
  gte: (by, own, value) => compared(by, own, value) >= 0,
  lt: (by, own, value) => compared(by, own, value) < 0,
  lte: (by, own, value) => compared(by, own, value) <= 0,
  contains: ({ field, kind }, own, value) =>
    kind.holds ? kind.holds(field, own as never, value) : (own as string).includes(value as string),
  containsInsensitive: ({ lower }, own, value) => lower(own as string).includes(lower(value as string)),
  startsWith: (_, own, value) => (own as string).startsWith(value as string),
}

function compared({ kind }: Comparison, own: unknown, value: unknown): number {
  if (kind.compare) return kind.compare(own as never, value as never)
  // Dates are compared by their numbers; texts have no order in filters.
  const [one, other] = [own, value] as [number, number]
  return one < other ? -1 : one > other ? 1 : 0
}
