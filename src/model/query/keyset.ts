import { hash } from 'node:crypto'
import { kindOf } from '../definition/fields.ts'
import type { Resource } from '../definition/resource.ts'
import { errorAt } from '../errors.ts'
import type { Row } from '../rows/row.ts'
import { isStorable } from '../values.ts'
import { type OrderStep, orderSteps, type Sort } from './query.ts'

/** A position in an order: the values of a resource in the columns of the order. */
export interface Position {
  readonly values: readonly unknown[]
  readonly version: number
}

/** The beginning of a text that is too long for a cursor. */
export class Prefix {
  constructor(readonly text: string) {}
}

/** Far below the limits of servers and proxies for the request line. */
const MAXIMUM_LENGTH = 1_000

/** Lengths in code points to which texts are cut, tried in this order until the cursor is short enough. */
const TEXT_LENGTHS = [100, 25, 5, 0]

/**
 * Encodes the position of a row as an opaque text of at most 1,000 characters. The cursor is valid in one namespace, for
 * one order, and for one `use` if given. It stays valid when the resource is changed or deleted.
 */
export function encodeCursor(
  resource: Resource,
  sorts: readonly Sort[],
  row: Row,
  namespace: string,
  use = '',
): string {
  const steps = orderSteps(resource, sorts)
  const encoded = (length: number) => {
    const values = steps.map((step) => encodedValue(resource, step, row, length))
    const text = JSON.stringify([orderDigest(steps), use, row.version, ...values])
    return Buffer.from(digest(namespace + text) + text).toString('base64url')
  }
  const shorter = (cursor: string, length: number) =>
    cursor.length > MAXIMUM_LENGTH ? encoded(length) : cursor
  return TEXT_LENGTHS.reduce(shorter, encoded(Number.POSITIVE_INFINITY))
}

/** The use that a cursor was made for; undefined for an invalid cursor. */
export function cursorUse(text: string, namespace: string): string | undefined {
  const [, use] = parsed(text, namespace)
  return typeof use === 'string' ? use : undefined
}

/** @throws {DomainError} INVALID_QUERY_PARAMETER (400) naming the argument, unless the cursor is for this order and use */
export function decodeCursor(
  resource: Resource,
  sorts: readonly Sort[],
  text: string,
  argument: string,
  namespace: string,
  use = '',
): Position {
  const steps = orderSteps(resource, sorts)
  const [order, usedFor, version, ...encoded] = parsed(text, namespace)
  const values = encoded.map((value, index) => decodedValue(steps[index], value))
  const isWhole = values.length === steps.length && !values.includes(undefined)
  if (order === orderDigest(steps) && usedFor === use && Number.isInteger(version) && isWhole)
    return { values, version: version as number }
  const message = `${argument} must be a cursor from a list of ${resource.path} in the same order.`
  throw errorAt(argument, 'INVALID_VALUE', 'INVALID_QUERY_PARAMETER', message)
}

/** Identifiers are short and never cut. An array marks a text that was cut. */
function encodedValue({ parentField }: Resource, { leaf }: OrderStep, row: Row, length: number): unknown {
  const value = row[leaf.column]
  const isKey = leaf.name === 'id' || leaf.name === parentField
  if (!isKey && typeof value === 'string' && value.length > length)
    return [[...value.slice(0, 2 * length)].slice(0, length).join('')]
  return value === null ? null : (kindOf(leaf.field).toJson?.(value as never) ?? value)
}

/** Undefined for a value that the column cannot hold. */
function decodedValue(step: OrderStep | undefined, value: unknown): unknown {
  if (!step) return undefined
  if (value === null) return step.nullable ? null : undefined
  const { field } = step.leaf
  const kind = kindOf(field)
  if (!kind.isText) {
    // As in a filter, values beyond the bounds of the field are accepted: a row may have one from before these.
    if (kind.isExact && value === 'NaN') return value
    const checked = kind.fromQuery(field, String(value))
    return 'value' in checked ? checked.value : undefined
  }
  // Not checked for length: a row written with SQL may hold a longer text than the API accepts.
  if (typeof value === 'string') return isStorable(value) ? value : undefined
  const [text] = Array.isArray(value) ? value : []
  return typeof text === 'string' && isStorable(text) ? new Prefix(text) : undefined
}

function orderDigest(steps: readonly OrderStep[]): string {
  return digest(steps.map(({ leaf, direction }) => `${leaf.name} ${direction}`).join(', '))
}

/** With many numbers, a cursor is longer than it should be. */
const LONGEST = 8_000

function parsed(cursor: string, namespace: string): unknown[] {
  if (cursor.length > LONGEST) return []
  try {
    const decoded = Buffer.from(cursor, 'base64url').toString()
    const text = decoded.slice(DIGEST_LENGTH)
    if (!decoded.startsWith(digest(namespace + text))) return []
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

const DIGEST_LENGTH = 8

/** Detects cut or changed cursors. It is not a signature: cursors hold nothing secret. */
function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, DIGEST_LENGTH)
}
