import type { OrderStep } from '../query.ts'
import { type Parameters, quoted } from './columns.ts'

/** A part of a list that an index on its order serves as one range: a condition, and the order within. */
export interface Range {
  readonly conditions: readonly string[]
  readonly order: string
}

/** The place in an order from which, or up to which, a list is read. */
export interface Bound {
  readonly position: readonly unknown[]
  readonly side: 'after' | 'before'
}

/** ORDER BY for an order; backwards where a list is read from its end. Nulls are last in every order. */
export function orderBy(steps: readonly OrderStep[], backwards = false, knownNotNull?: OrderStep): string {
  const keys = steps.map((step) => {
    const isAscending = (step.direction === 'asc') !== backwards
    const nulls = step.nullable && step !== knownNotNull ? ` NULLS ${backwards ? 'FIRST' : 'LAST'}` : ''
    return `${quoted(step.leaf.column)} ${isAscending ? 'ASC' : 'DESC'}${nulls}`
  })
  return keys.length === 0 ? '' : `ORDER BY ${keys.join(', ')}`
}

/**
 * The ranges of a whole list. One, unless nulls stand at that end of the order where an index does not
 * have them: PostgreSQL sorts them after the greatest value, and so before it where the order descends.
 */
export function wholeRanges(steps: readonly OrderStep[], backwards: boolean): Range[] {
  const [first, ...others] = steps
  if (!first?.nullable || first.direction === 'asc')
    return [{ conditions: [], order: orderBy(steps, backwards) }]
  const column = quoted(first.leaf.column)
  return [
    { conditions: [`${column} IS NOT NULL`], order: orderBy(steps, backwards, first) },
    { conditions: [`${column} IS NULL`], order: orderBy(others, backwards) },
  ]
}

/**
 * The ranges of what lies beyond a place: a later value in the first column of the order; or the same value
 * there and a later one in the second, and so on. As one condition, with OR, they would be read from the
 * beginning of the list, so that page 40,000 costs as much as all before it.
 */
export function boundedRanges(
  steps: readonly OrderStep[],
  { position, side }: Bound,
  backwards: boolean,
  parameters: Parameters,
): Range[] {
  const same: string[] = []
  return steps.flatMap((step, index) => {
    const column = quoted(step.leaf.column)
    const value = position[index]
    const place = value === null ? undefined : parameters.add(value)
    const range = (condition: string, order: string) => ({
      conditions: [...same.slice(0, index), condition],
      order,
    })
    const values = orderBy(steps.slice(index), backwards, step)
    const nulls = orderBy(steps.slice(index + 1), backwards)
    same.push(place === undefined ? `${column} IS NULL` : `${column} = ${place}`)
    if (place === undefined) return side === 'before' ? [range(`${column} IS NOT NULL`, values)] : []
    const operator = (step.direction === 'asc') === (side === 'after') ? '>' : '<'
    return [
      range(`${column} ${operator} ${place}`, values),
      ...(step.nullable && side === 'after' ? [range(`${column} IS NULL`, nulls)] : []),
    ]
  })
}
