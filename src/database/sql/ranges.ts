import type { Resource } from '../../model/definition/resource.ts'
import { type Position, Prefix } from '../../model/query/keyset.ts'
import type { Filter, OrderStep } from '../../model/query/query.ts'
import { filterCondition } from './filter.ts'
import { type Parameters, quoted, quotedTable } from './statement.ts'

/** A part of a list that is one range of an index. */
export interface Range {
  readonly conditions: readonly string[]
  readonly order: string
}

interface Selection {
  /** They include those of the order. */
  readonly columns: string
  readonly steps: readonly OrderStep[]
  readonly backwards: boolean
  /** Conditions that hold in every range. */
  readonly conditions?: readonly string[]
  /** SQL expressions. */
  readonly limit: string
  readonly offset?: string | undefined
}

export function rangesQuery(resource: Resource, ranges: readonly Range[], selection: Selection): string {
  const { columns, steps, backwards, conditions = [], limit, offset } = selection
  const end = offset ? `LIMIT ${limit} OFFSET ${offset}` : `LIMIT ${limit}`
  const select = (range: Range, end: string) => {
    const where = [...conditions, ...range.conditions].join(' AND ') || 'TRUE'
    const order = range.order && `ORDER BY ${range.order}`
    return `SELECT ${columns} FROM ${quotedTable(resource)} WHERE ${where} ${order} ${end}`
  }
  if (ranges.length === 1) return select(ranges[0] as Range, end)
  const enough = offset ? `LIMIT ${limit} + ${offset}` : end
  const parts = ranges.map((range) => `(${select(range, enough)})`)
  return `SELECT * FROM (${parts.join(' UNION ALL ')}) AS ranges ORDER BY ${orderKeys(steps, backwards)} ${end}`
}

export function orderColumns(steps: readonly OrderStep[], ...more: readonly string[]): string {
  return [...new Set([...steps.map(({ leaf }) => leaf.column), ...more])].map(quoted).join(', ')
}

/** The expressions of ORDER BY. Nulls are last in every order; `backwards` reverses it to read from the end. */
export function orderKeys(steps: readonly OrderStep[], backwards = false, knownNotNull?: OrderStep): string {
  const keys = steps.map((step) => {
    const isAscending = (step.direction === 'asc') !== backwards
    const nulls = step.nullable && step !== knownNotNull ? ` NULLS ${backwards ? 'FIRST' : 'LAST'}` : ''
    return `${quoted(step.leaf.column)} ${isAscending ? 'ASC' : 'DESC'}${nulls}`
  })
  return keys.join(', ')
}

/** One range, or two for a descending order with nulls: an index has these first, but the list last. */
export function wholeRanges(steps: readonly OrderStep[], backwards: boolean): Range[] {
  const [first, ...others] = steps
  if (!first?.nullable || first.direction === 'asc')
    return [{ conditions: [], order: orderKeys(steps, backwards) }]
  const column = quoted(first.leaf.column)
  return [
    { conditions: [`${column} IS NOT NULL`], order: orderKeys(steps, backwards, first) },
    { conditions: [`${column} IS NULL`], order: orderKeys(others, backwards) },
  ]
}

/** A text with this suffix sorts after all texts with the same beginning. */
const LAST_CHARACTER = '\u{10FFFF}'

interface Bounds {
  readonly position: Position
  readonly side: 'after' | 'before'
  readonly backwards: boolean
  /** The rows that the caller may read: a cursor can name any. */
  readonly readable: Filter | undefined
}

/**
 * The ranges beyond a position: a later value in the first column of the order; or the same value in the first
 * and a later one in the second, and so on. With a single condition that uses OR, PostgreSQL would read from
 * the beginning of the list, so page 40,000 would cost as much as all previous pages.
 *
 * If the position holds only a prefix of a value, the value is read from the resource, unless that has changed. Then the
 * part begins before all texts with this prefix: some of them may be repeated, but none is skipped.
 */
export function boundedRanges(
  resource: Resource,
  steps: readonly OrderStep[],
  { position: { values, version }, side, backwards, readable }: Bounds,
  parameters: Parameters,
): Range[] {
  const storedValue = (column: string) => {
    const conditions = [`version = ${parameters.add(version)}`]
    if (readable) conditions.push(filterCondition(resource, readable, parameters))
    for (const [index, { leaf }] of steps.entries()) {
      const isKey = leaf.name === 'id' || leaf.name === resource.parentField
      if (isKey) conditions.push(`${quoted(leaf.column)} = ${parameters.add(values[index])}`)
    }
    return `(SELECT ${column} FROM ${quotedTable(resource)} WHERE ${conditions.join(' AND ')})`
  }
  const same: string[] = []
  return steps.flatMap((step, index) => {
    const column = quoted(step.leaf.column)
    const equal = [...same]
    const range = (condition: string, order: string) => ({ conditions: [...equal, condition], order })
    const later = orderKeys(steps.slice(index), backwards, step)
    const value = values[index]
    if (value === null) {
      same.push(`${column} IS NULL`)
      return side === 'before' ? [range(`${column} IS NOT NULL`, later)] : []
    }
    const operator = (step.direction === 'asc') === (side === 'after') ? '>' : '<'
    const exact = value instanceof Prefix ? storedValue(column) : parameters.add(value)
    same.push(`${column} = ${exact}`)
    let beyond = exact
    if (value instanceof Prefix) {
      const nearest = operator === '>' ? value.text : value.text + LAST_CHARACTER
      beyond = `COALESCE(${exact}, ${parameters.add(nearest)})`
    }
    const isBeforeNulls = step.nullable && side === 'after'
    const nulls = range(`${column} IS NULL`, orderKeys(steps.slice(index + 1), backwards))
    return [range(`${column} ${operator} ${beyond}`, later), ...(isBeforeNulls ? [nulls] : [])]
  })
}
