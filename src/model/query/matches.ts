import { kindOf } from '../definition/fields.ts'
import type { Leaf, Resource } from '../definition/resource.ts'
import type { Kind } from '../kinds/kind.ts'
import type { TextField } from '../kinds/text.ts'
import type { Columns } from '../rows/row.ts'
import type { Operator } from './operators.ts'
import { type Filter, leafNamed } from './query.ts'

/** Lowers the case of a text as the database does. */
export type LowerCase = (text: string) => string

/** By condition on a relation, the identifiers of the targets that match it. */
export type Referred = ReadonlyMap<object, ReadonlySet<unknown>>

/** Whether a resource matches a filter, by its columns, with the values that statements return. */
export type Matcher = (row: Columns, referred?: Referred) => boolean

/**
 * Makes the check of a filter, as the condition of `database/sql/filter.ts` checks it. Converts what the filter compares
 * with once.
 *
 * @throws {TypeError} for a condition of a search; and, when matching, for one on a relation whose targets are not given
 */
export function matcherOf(resource: Resource, filter: Filter, lower: LowerCase): Matcher {
  const matchers = (parts: readonly Filter[]) => parts.map((part) => matcherOf(resource, part, lower))
  if ('not' in filter) {
    const matches = matcherOf(resource, filter.not, lower)
    return (...of) => !matches(...of)
  }
  if ('all' in filter) {
    const parts = matchers(filter.all)
    return (...of) => parts.every((matches) => matches(...of))
  }
  if ('any' in filter) {
    const parts = matchers(filter.any)
    return (...of) => parts.some((matches) => matches(...of))
  }
  if ('related' in filter)
    return (row, referred) => {
      const found = referred?.get(filter)
      if (!found) throw new TypeError('The targets of this condition are not known.')
      return found.has(row[filter.column])
    }
  if (!('field' in filter)) throw new TypeError('This condition cannot be checked on one row.')
  const { operator, value } = filter
  if (operator === 'notEquals') return matcherOf(resource, { not: { ...filter, operator: 'equals' } }, lower)
  const { column, field } = leafNamed(resource, filter.field)
  if (operator === 'isSet') return (row) => ((row[column] ?? null) !== null) === value
  const holds = HOLDS[operator]({ field, kind: kindOf(field), lower }, value)
  const { alsoMatches } = field as TextField
  const columns =
    alsoMatches && (operator === 'equals' || operator === 'in') ? [column, alsoMatches] : [column]
  return (row) => columns.some((one) => (row[one] ?? null) !== null && holds(row[one]))
}

interface Comparison {
  readonly field: Leaf['field']
  readonly kind: Kind<Leaf['field']>
  readonly lower: LowerCase
}

type MakeComparison = (by: Comparison, value: unknown) => (own: unknown) => boolean

/** For values that are set. */
const HOLDS: Readonly<Record<Exclude<Operator, 'notEquals' | 'isSet'>, MakeComparison>> = {
  equals: (by, value) => (own) => compared(by, own, value) === 0,
  in: (by, values) => (own) => (values as unknown[]).some((value) => compared(by, own, value) === 0),
  gt: (by, value) => (own) => compared(by, own, value) > 0,
  gte: (by, value) => (own) => compared(by, own, value) >= 0,
  lt: (by, value) => (own) => compared(by, own, value) < 0,
  lte: (by, value) => (own) => compared(by, own, value) <= 0,
  contains: ({ field, kind }, value) =>
    (kind.holds?.(field, value) as ((own: unknown) => boolean) | undefined) ??
    ((own) => (own as string).includes(value as string)),
  containsInsensitive: ({ lower }, value) => {
    const lowered = lower(value as string)
    return (own) => lower(own as string).includes(lowered)
  },
  startsWith: (_, value) => (own) => (own as string).startsWith(value as string),
}

function compared({ kind }: Comparison, own: unknown, value: unknown): number {
  if (kind.compare) return kind.compare(own as never, value as never)
  // Dates are compared by their numbers; texts have no order in filters.
  const [one, other] = [own, value] as [number, number]
  return one < other ? -1 : one > other ? 1 : 0
}
