import type { Field } from '../definition/fields.ts'
import type { Resource, Values } from '../definition/resource.ts'
import type { Operator } from './operators.ts'
import type { Filter } from './query.ts'

/**
 * The filter of nested conditions: `and`, `or` and `not`, and members for fields, of which all must match.
 *
 * @param filtersOf makes the filters of the members of one level
 */
export function conditionsOf(conditions: Values, filtersOf: (members: Values) => readonly Filter[]): Filter {
  const { and, or, not, ...members } = conditions
  const nested = (parts: unknown) => (parts as Values[]).map((part) => conditionsOf(part, filtersOf))
  return {
    all: [
      ...(and ? nested(and) : []),
      ...(or ? [{ any: nested(or) }] : []),
      ...(not ? [{ not: conditionsOf(not as Values, filtersOf) }] : []),
      ...filtersOf(members),
    ],
  }
}

/** The filters of members by wire names: `{ mass: { gt: 5 } }`. Groups are nested. A member that is null has none. */
export function fieldFilters(fields: Resource['allFields'], members: Values, prefix = ''): Filter[] {
  return Object.entries(members).flatMap(([name, member]) => {
    if (member === null) return []
    const field = fields[name] as Field
    if (field.type === 'group') return fieldFilters(field.fields, member as Values, `${name}.`)
    return Object.entries(member as Values).map(([operator, value]) => {
      return { field: prefix + name, operator: operator as Operator, value }
    })
  })
}
