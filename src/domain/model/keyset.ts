import { createHash } from 'node:crypto'
import { DomainError } from './errors.ts'
import type { LeafField } from './fields.ts'
import { type OrderStep, orderSteps, type Sort } from './query.ts'
import type { Resource } from './resource.ts'
import type { Row } from './row.ts'
import { checkValue, isStorable } from './values.ts'

/** A position in an order: the values that a resource had in the columns of the order. */
export interface Position {
  /** One value for each column of the order. */
  readonly values: readonly unknown[]
  /** The version of the resource that had them. */
  readonly version: number
}

/** The beginning of a text that is too long for a cursor to hold whole. */
export class Prefix {
  constructor(readonly text: string) {}
}

/** Far below the length of a request line that servers and proxies accept. */
const MAXIMUM_LENGTH = 1_000

/** In Unicode code points: how much of each text a cursor holds, tried in this order. */
const TEXT_LENGTHS = [Number.POSITIVE_INFINITY, 100, 25, 5, 0]

/**
 * The position of a row as an opaque text of at most 1,000 characters, whatever the values. It also says
 * which order it is a position in, and what use it is for. It stays valid when the resource is changed or
 * deleted.
 */
export function encodeCursor(resource: Resource, sorts: readonly Sort[], row: Row, use = ''): string {
  const steps = orderSteps(resource, sorts)
  const encoded = (length: number) => {
    const values = steps.map((step) => encodedValue(resource, step, row, length))
    const text = JSON.stringify([orderDigest(steps), use, row.version, ...values])
    return Buffer.from(digest(text) + text).toString('base64url')
  }
  let cursor = ''
  for (const length of TEXT_LENGTHS) {
    cursor = encoded(length)
    if (cursor.length <= MAXIMUM_LENGTH) break
  }
  return cursor
}

/** The use that a cursor was made for; undefined for a text that is no cursor. */
export function cursorUse(text: string): string | undefined {
  const [, use] = parsed(text)
  return typeof use === 'string' ? use : undefined
}

/**
 * The position that a cursor states.
 *
 * @throws {DomainError} INVALID_QUERY_PARAMETER (400) naming the argument, for what is no cursor of
 *   this order and use
 */
export function decodeCursor(
  resource: Resource,
  sorts: readonly Sort[],
  text: string,
  argument: string,
  use = '',
): Position {
  const steps = orderSteps(resource, sorts)
  const [order, usedFor, version, ...encoded] = parsed(text)
  const values = encoded.map((value, index) => decodedValue(steps[index], value))
  const isWhole = values.length === steps.length && !values.includes(undefined)
  if (order === orderDigest(steps) && usedFor === use && Number.isInteger(version) && isWhole) {
    return { values, version: version as number }
  }
  const message = `${argument} must be a cursor from a list of ${resource.path} in the same order.`
  throw new DomainError('INVALID_QUERY_PARAMETER', message, [
    { field: argument, code: 'INVALID_VALUE', message },
  ])
}

/** Identifiers are short and always whole; other texts are cut, and an array marks one that was. */
function encodedValue({ parentField }: Resource, { leaf }: OrderStep, row: Row, length: number): unknown {
  const value = row[leaf.column]
  const isKey = leaf.name === 'id' || leaf.name === parentField
  if (isKey || typeof value !== 'string' || value.length <= length) return value
  return [[...value.slice(0, 2 * length)].slice(0, length).join('')]
}

/** A value that the column could hold, or undefined. */
function decodedValue(step: OrderStep | undefined, value: unknown): unknown {
  if (!step) return undefined
  if (value === null) return step.nullable ? null : undefined
  const { field } = step.leaf
  if (!isText(field)) {
    const checked = checkValue(field, value)
    return 'value' in checked ? checked.value : undefined
  }
  if (typeof value === 'string') return isStorable(value) ? value : undefined
  const [text] = Array.isArray(value) ? value : []
  return typeof text === 'string' && isStorable(text) ? new Prefix(text) : undefined
}

/** A row that was written directly may hold a longer text than the API accepts, and still has a position. */
function isText({ type }: LeafField): boolean {
  return type === 'text' || type === 'reference' || type === 'enumeration'
}

function orderDigest(steps: readonly OrderStep[]): string {
  return digest(steps.map(({ leaf, direction }) => `${leaf.name} ${direction}`).join(', '))
}

function parsed(cursor: string): unknown[] {
  try {
    const decoded = Buffer.from(cursor, 'base64url').toString()
    const text = decoded.slice(DIGEST_LENGTH)
    if (!decoded.startsWith(digest(text))) return []
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

const DIGEST_LENGTH = 8

/** Tells a cursor that was cut or changed from one that was made here. It is no secret, and guards none. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, DIGEST_LENGTH)
}
