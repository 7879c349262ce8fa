import { createHash } from 'node:crypto'
import { DomainError } from './errors.ts'
import { exactly } from './exact-number.ts'
import { type OrderStep, orderSteps, type Sort, type Where } from './query.ts'
import type { Resource } from './resource.ts'
import type { Row } from './rows.ts'
import { invalidity } from './values.ts'

/** A place in an order: the values that a resource has in the columns of the order. */
export type Position = readonly unknown[]

/**
 * The place of a row as an opaque text, which also says what order it is a place in and, if it is for one
 * use only, what for. It stays valid when the resource is changed or deleted.
 */
export function encodeCursor(resource: Resource, sorts: readonly Sort[], row: Row, use = ''): string {
  const steps = orderSteps(resource, sorts)
  const values = steps.map(({ leaf }) => row[leaf.column])
  const text = JSON.stringify([orderName(steps) + use, ...values])
  return Buffer.from(checksum(text) + text).toString('base64url')
}

/**
 * The place that a cursor tells.
 *
 * @throws {DomainError} INVALID_QUERY_PARAMETER (400) naming the argument, for what is no cursor of
 *   this order
 */
export function decodeCursor(
  resource: Resource,
  sorts: readonly Sort[],
  text: string,
  argument: string,
  use = '',
): Position {
  const steps = orderSteps(resource, sorts)
  const [name, ...values] = parsed(text)
  const position = values.map((value, index) => checked(steps[index], value))
  if (name === orderName(steps) + use && values.length === steps.length && !position.includes(undefined)) {
    return position
  }
  const message = `${argument} must be a cursor from a list of ${resource.path} in the same order.`
  throw new DomainError('INVALID_QUERY_PARAMETER', message, [
    { field: argument, code: 'INVALID_VALUE', message },
  ])
}

/**
 * The Prisma condition that holds for what comes after a place, or before it: a later value in the first
 * column of the order, or the same value there and a later one in the second, and so on.
 */
export function keysetWhere(
  steps: readonly OrderStep[],
  position: Position,
  side: 'after' | 'before',
): Where {
  const branches = steps.flatMap((step, index) => {
    const beyond = beyondValue(step, position[index], side)
    const same = steps
      .slice(0, index)
      .map(({ leaf }, earlier) => ({ [leaf.column]: exactly(position[earlier]) }))
    return beyond ? [{ AND: [...same, beyond] }] : []
  })
  return { OR: branches }
}

/** What lies beyond a value of a column; undefined where nothing can. Nulls are last in every order. */
function beyondValue({ leaf, direction, nullable }: OrderStep, value: unknown, side: 'after' | 'before') {
  const { column, field } = leaf
  if (value === null) return side === 'before' ? { [column]: { not: null } } : undefined
  const isGreater = (direction === 'asc') === (side === 'after')
  const values =
    field.type === 'boolean'
      ? otherBoolean(column, value as boolean, isGreater)
      : { [column]: { [isGreater ? 'gt' : 'lt']: exactly(value) } }
  if (!nullable || side === 'before') return values
  return { OR: [...(values ? [values] : []), { [column]: null }] }
}

/** Prisma does not compare booleans, of which there is only one other. */
function otherBoolean(column: string, value: boolean, isGreater: boolean): Where | undefined {
  return value === isGreater ? undefined : { [column]: isGreater }
}

function orderName(steps: readonly OrderStep[]): string {
  return steps.map(({ leaf, direction }) => `${leaf.name} ${direction}`).join(', ')
}

function parsed(cursor: string): unknown[] {
  try {
    const decoded = Buffer.from(cursor, 'base64url').toString()
    const text = decoded.slice(CHECKSUM_LENGTH)
    if (!decoded.startsWith(checksum(text))) return []
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

const CHECKSUM_LENGTH = 8

/** Tells a cursor that was cut or changed from one that was made here. It is no secret, and guards none. */
function checksum(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, CHECKSUM_LENGTH)
}

/** A value that the column could hold, or undefined. */
function checked(step: OrderStep | undefined, value: unknown): unknown {
  if (!step || (value === null && !step.nullable)) return undefined
  if (value === null) return null
  const result = invalidity(step.leaf.field, value)
  return 'value' in result ? result.value : undefined
}
