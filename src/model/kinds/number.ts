import { exactNumber } from '../values.ts'
import { type Checked, COMPARISONS, type FieldOf, type Kind, wrongType } from './kind.ts'

/** Bounds under the names of JSON Schema and of HAL-FORMS. */
export interface Bounds {
  readonly minimum?: number
  readonly maximum?: number
}

export const BOUND_OPTIONS = { minimum: 'The least value.', maximum: 'The greatest value.' }

export function checkNumber(value: unknown, bounds: Bounds): Checked {
  if (typeof value !== 'number') return wrongType('a number')
  if (!Number.isFinite(value)) return { code: 'OUT_OF_RANGE', problem: INEXACT }
  return withinBounds(value, bounds, (bound) => value - bound)
}

/** How readers of requests mark numbers that they cannot keep: see {@link exactNumber}. */
export const INEXACT = 'must be a finite number that double precision keeps with all its digits'

export function withinBounds(
  value: unknown,
  { minimum, maximum }: Bounds,
  compare: (bound: number) => number,
): Checked {
  const isLess = minimum !== undefined && compare(minimum) < 0
  const isMore = maximum !== undefined && compare(maximum) > 0
  if (!isLess && !isMore) return { value }
  return {
    code: 'OUT_OF_RANGE',
    problem: `must not be ${isLess ? `less than ${minimum}` : `more than ${maximum}`}`,
  }
}

const NUMBER = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/** Of a number in a text. Doubles written with all their digits have up to 1,100. */
export const MAXIMUM_CHARACTERS = 1_100

/** The {@link exactNumber} in a text, or the text itself if it is not a number. */
export function numberIn(text: string): number | string {
  return text.length <= MAXIMUM_CHARACTERS && NUMBER.test(text) ? exactNumber(text) : text
}

/** A text from a table, with a point where its commas and points can only mean thousands and a fraction: `1.234,5`. */
export function pointed(text: string): string {
  if (/^[+-]?\d{1,3}(?:,\d{3})+\.\d*$|^[+-]?\d{1,3}(?:,\d{3}){2,}$/.test(text))
    return text.replaceAll(',', '')
  if (/^[+-]?\d{1,3}(?:\.\d{3})+,\d*$|^[+-]?\d{1,3}(?:\.\d{3}){2,}$/.test(text))
    return text.replaceAll('.', '').replace(',', '.')
  return /^[+-]?\d+,\d+$/.test(text) ? text.replace(',', '.') : text
}

export const numberInCell = (text: string) => numberIn(pointed(text))

export function boundProblems({ minimum = -Infinity, maximum = Infinity }: Bounds): string[] {
  return minimum <= maximum
    ? []
    : ['its minimum and maximum must be numbers, and the minimum must not exceed the maximum']
}

export function schemaBounds({ minimum, maximum }: Bounds) {
  return { ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }) }
}

export function controlBounds({ minimum, maximum }: Bounds) {
  return { ...(minimum !== undefined && { min: minimum }), ...(maximum !== undefined && { max: maximum }) }
}

export function sampleNumber({ minimum = -Infinity, maximum = Infinity }: Bounds, number: number): number {
  const least = Math.max(minimum, 0)
  return Number.isFinite(maximum) ? least + (number % (maximum - least)) : least + number
}

export interface NumberField extends FieldOf<'number'>, Bounds {}

export const numberKind: Kind<NumberField> = {
  type: 'number',
  guide: {
    field: number('Distance, in parsecs.', { minimum: 0 }),
    code: "number('Distance, in parsecs.', { minimum: 0 })",
    options: BOUND_OPTIONS,
  },
  columnType: 'DOUBLE PRECISION',
  dataType: 'double precision',
  fromDatabase: finite,
  prismaType: 'Float',
  problems: boundProblems,
  // Without bounds, the column could hold infinity or NaN.
  constraint(column, { minimum, maximum }) {
    const lower = minimum === undefined ? `> '-Infinity'` : `>= ${minimum}`
    const upper = maximum === undefined ? `< 'Infinity'` : `<= ${maximum}`
    return `${column} ${lower} AND ${column} ${upper}`
  },
  scalar: 'Float',
  operators: COMPARISONS,
  isMeasurable: true,
  schema: (field) => ({ type: 'number', ...schemaBounds(field) }),
  check: (field, value) => checkNumber(value, field),
  // Filters accept numbers beyond the bounds of the field.
  fromQuery: (_, text) => checkNumber(numberIn(text), {}),
  fromCell: numberInCell,
  control: (field) => ({ type: 'number', ...controlBounds(field) }),
  sample: (field, _, number) => sampleNumber(field, number),
}

/** A row from before its constraint may hold what JSON cannot express. As in PostgreSQL, NaN is greater than all numbers. */
function finite(text: string): number {
  const value = Number(text)
  if (Number.isFinite(value)) return value
  return text === '-Infinity' ? -Number.MAX_VALUE : Number.MAX_VALUE
}

/** A finite double-precision number. The field name includes the unit. */
export function number(description: string, options: Partial<Omit<NumberField, 'type'>> = {}): NumberField {
  return { type: 'number', description, ...options }
}

/** A measured number that cannot be negative. */
export function magnitude(
  description: string,
  options: Pick<NumberField, 'label' | 'unit'> = {},
): NumberField {
  return number(description, { minimum: 0, ...options })
}
