import type { DetailCode } from './errors.ts'
import type { LeafField } from './fields.ts'
import type { Values } from './resource.ts'

/** The converted value, or a problem. */
export type Checked = { readonly value: unknown } | Problem

interface Problem {
  readonly code: DetailCode
  /** A predicate that follows the name of the field in a message. */
  readonly problem: string
}

/** Limits of an object of fractions: members, and characters of a name. */
export const MAXIMUM_FRACTIONS = 100
export const MAXIMUM_NAME_LENGTH = 100

/** Whether a JSON value is an object, and neither null nor an array. */
export function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

/**
 * Checks a value that is not null against its field. Only timestamps are converted, to a Date; a number in
 * quotes is not a number.
 */
export function checkValue(field: LeafField, value: unknown): Checked {
  switch (field.type) {
    case 'text':
      return checkText(value, field.maximumLength)
    case 'reference':
      return checkText(value, 500)
    case 'number':
    case 'integer':
      return checkNumber(value, field.type === 'integer', field.minimum, field.maximum)
    case 'boolean':
      return typeof value === 'boolean' ? { value } : wrongType('a boolean')
    case 'timestamp':
      return checkTimestamp(value)
    case 'enumeration':
      return checkEnumeration(value, field.values)
    case 'fractions':
      return checkFractions(value)
  }
}

function checkText(value: unknown, maximumLength: number): Checked {
  if (typeof value !== 'string') return wrongType('a string')
  if (!isStorable(value)) {
    return { code: 'INVALID_VALUE', problem: 'must not hold U+0000 or half of a surrogate pair' }
  }
  if (value.length > maximumLength && [...value].length > maximumLength) {
    return { code: 'TOO_LONG', problem: `must not be longer than ${maximumLength} characters` }
  }
  return { value }
}

/** Whether PostgreSQL can store a text: it accepts neither U+0000 nor lone surrogates. */
export function isStorable(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed()
}

function checkNumber(value: unknown, whole: boolean, minimum = -Infinity, maximum = Infinity): Checked {
  if (typeof value !== 'number') return wrongType(whole ? 'an integer' : 'a number')
  if (!Number.isFinite(value)) {
    return { code: 'OUT_OF_RANGE', problem: 'must be a finite double-precision number' }
  }
  if (whole && !Number.isInteger(value)) return wrongType('an integer')
  if (value < minimum) return { code: 'OUT_OF_RANGE', problem: `must not be less than ${minimum}` }
  if (value > maximum) return { code: 'OUT_OF_RANGE', problem: `must not be more than ${maximum}` }
  return { value }
}

const TIMESTAMP =
  /^(?<day>\d{4}-\d{2}-\d{2})(?:T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,3}0*)?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d))?$/

function checkTimestamp(value: unknown): Checked {
  if (value instanceof Date) return inCalendar(value)
  if (typeof value !== 'string') return wrongType('a string with an ISO 8601 timestamp')
  const day = TIMESTAMP.exec(value)?.groups?.['day']
  if (!day || !isDay(day)) {
    const problem =
      'must be an ISO 8601 timestamp such as 2031-04-05T06:07:08.900Z, with milliseconds at most'
    return { code: 'INVALID_FORMAT', problem }
  }
  return inCalendar(new Date(value))
}

/** Date.parse accepts 30 February as 2 March, so the day is formatted again and compared. */
function isDay(day: string): boolean {
  const midnight = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day)
}

function inCalendar(timestamp: Date): Checked {
  if (isInCalendar(timestamp)) return { value: timestamp }
  return { code: 'OUT_OF_RANGE', problem: 'must be in the years 1 to 9999' }
}

/** Whether a timestamp is in the years 1 to 9999, which ISO 8601 and PostgreSQL write with four digits. */
export function isInCalendar(timestamp: Date): boolean {
  const year = timestamp.getUTCFullYear()
  return year >= 1 && year <= 9999
}

function checkEnumeration(value: unknown, allowed: readonly string[]): Checked {
  if (typeof value !== 'string') return wrongType('a string')
  if (!allowed.includes(value)) {
    return { code: 'INVALID_VALUE', problem: `must be one of ${allowed.join(', ')}` }
  }
  return { value }
}

/** Names that every object inherits, or that the merge patch library rejects: a patch cannot set them. */
function isReserved(name: string): boolean {
  return name in Object.prototype || name === 'prototype'
}

function checkFractions(value: unknown): Checked {
  if (!isObject(value)) return wrongType('an object that maps names to fractions')
  const entries = Object.entries(value)
  if (entries.length > MAXIMUM_FRACTIONS) {
    return { code: 'TOO_LONG', problem: `must not have more than ${MAXIMUM_FRACTIONS} members` }
  }
  for (const [name, fraction] of entries) {
    if (isReserved(name)) return { code: 'INVALID_VALUE', problem: `has the reserved name ${name}` }
    const problem = checkText(name, MAXIMUM_NAME_LENGTH)
    if (!('value' in problem)) return { ...problem, problem: `has a name that ${problem.problem}` }
    const checked = checkNumber(fraction, false, 0)
    if (!('value' in checked))
      return { ...checked, problem: `has a fraction (${name}) that ${checked.problem}` }
  }
  return { value }
}

function wrongType(expected: string): Problem {
  return { code: 'INVALID_TYPE', problem: `must be ${expected}` }
}
