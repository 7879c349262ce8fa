import { type Position, Prefix } from '../../domain/model/keyset.ts'
import type { OrderStep } from '../../domain/model/query.ts'
import type { Resource } from '../../domain/model/resource.ts'
import { type Parameters, quoted, tableOf } from './statement.ts'

/** A part of a list that an index on its order serves as one range: a condition, and the order within. */
export interface Range {
  readonly conditions: readonly string[]
  readonly order: string
}

/** The position in an order from which, or up to which, a list is read. */
export interface Bound {
  readonly position: Position
  readonly side: 'after' | 'before'
}

/** ORDER BY for an order; backwards where a list is read from its end. Nulls are last in every order. */
export function orderBy(steps: readonly OrderStep[], backwards = false, knownNotNull?: OrderStep): string {
  const keys = orderKeys(steps, backwards, knownNotNull)
  return keys.length === 0 ? '' : `ORDER BY ${keys.join(', ')}`
}

/** The sort expressions of {@link orderBy}. */
export function orderKeys(
  steps: readonly OrderStep[],
  backwards: boolean,
  knownNotNull?: OrderStep,
): string[] {
  return steps.map((step) => {
    const isAscending = (step.direction === 'asc') !== backwards
    const nulls = step.nullable && step !== knownNotNull ? ` NULLS ${backwards ? 'FIRST' : 'LAST'}` : ''
    return `${quoted(step.leaf.column)} ${isAscending ? 'ASC' : 'DESC'}${nulls}`
  })
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
 * The ranges of what lies beyond a position: a later value in the first column of the order; or the same
 * value there and a later one in the second, and so on. As one condition, with OR, they would be read from
 * the beginning of the list, so that page 40,000 costs as much as all before it.
 */
export function boundedRanges(
  resource: Resource,
  steps: readonly OrderStep[],
  { position, side }: Bound,
  backwards: boolean,
  parameters: Parameters,
): Range[] {
  const same: string[] = []
  return steps.flatMap((step, index) => {
    const column = quoted(step.leaf.column)
    const value = position.values[index]
    const range = (condition: string, order: string) => ({
      conditions: [...same.slice(0, index), condition],
      order,
    })
    const values = orderBy(steps.slice(index), backwards, step)
    const nulls = orderBy(steps.slice(index + 1), backwards)
    if (value === null) {
      same.push(`${column} IS NULL`)
      return side === 'before' ? [range(`${column} IS NOT NULL`, values)] : []
    }
    const operator = (step.direction === 'asc') === (side === 'after') ? '>' : '<'
    const { exact, beyond } = comparands(value, operator, parameters, () =>
      storedValue(resource, steps, position, column, parameters),
    )
    same.push(`${column} = ${exact}`)
    return [
      range(`${column} ${operator} ${beyond}`, values),
      ...(step.nullable && side === 'after' ? [range(`${column} IS NULL`, nulls)] : []),
    ]
  })
}

/** Sorts behind every text that it is appended to. */
const LAST_CHARACTER = '\u{10FFFF}'

/**
 * What a column is compared with: for the same value, and for one beyond it. Of a text that the position
 * holds only the beginning of, the rest is read from the resource, if that still is as it was. If not, the
 * part begins before all texts with this beginning: some of them may be met again, none is missed.
 */
function comparands(
  value: unknown,
  operator: '<' | '>',
  parameters: Parameters,
  stored: () => string,
): { readonly exact: string; readonly beyond: string } {
  if (!(value instanceof Prefix)) {
    const exact = parameters.add(value)
    return { exact, beyond: exact }
  }
  const exact = stored()
  const nearest = parameters.add(operator === '>' ? value.text : value.text + LAST_CHARACTER)
  return { exact, beyond: `COALESCE(${exact}, ${nearest})` }
}

/** The value of a column in the resource of a position; null unless that still is of the same version. */
function storedValue(
  resource: Resource,
  steps: readonly OrderStep[],
  { values, version }: Position,
  column: string,
  parameters: Parameters,
): string {
  const isKey = ({ leaf: { name } }: OrderStep) => name === 'id' || name === resource.parentField
  const key = steps.flatMap((step, index) =>
    isKey(step) ? [`${quoted(step.leaf.column)} = ${parameters.add(values[index])}`] : [],
  )
  const conditions = [...key, `version = ${parameters.add(version)}`].join(' AND ')
  return `(SELECT ${column} FROM ${tableOf(resource)} WHERE ${conditions})`
}
