import { type Checked, COMPARISONS, type FieldOf, type FieldOptions, type Kind, wrongType } from './kind.ts'
import {
  BOUND_OPTIONS,
  type Bounds,
  boundProblems,
  MAXIMUM_CHARACTERS,
  pointed,
  withinBounds,
} from './number.ts'

export interface DecimalField extends FieldOf<'decimal'>, Bounds {
  readonly precision: number
  readonly scale: number
}

/** Far below PostgreSQL's limit for a declared precision, 1000. */
const MAXIMUM_PRECISION = 100

const DECIMAL = /^(?<sign>-?)(?<whole>\d+)(?:\.(?<fraction>\d+))?$/
const LEADING_ZEROS = /^0+(?=\d)/
/** Without the lookbehind, each zero of a long run would begin a search for its end. */
const TRAILING_ZEROS = /(?<!0)0+$/

/** The digits of a number that is exact in binary, such as 12.5; undefined for others, such as 0.1. */
function exactText(value: number): string | undefined {
  if (!Number.isFinite(value) || Math.abs(value) >= 1e21) return undefined
  const written = value.toFixed(100).replace(TRAILING_ZEROS, '').replace(/\.$/, '')
  return Number.isSafeInteger(value) || written === String(value) ? written : undefined
}

/** As an integer, in units of the last place. */
function unscaled(text: string, scale: number): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(scale, '0'))
}

/** A row from before its constraint may hold NaN. As in PostgreSQL, it is greater than all numbers. */
function compare(one: string, other: string): number {
  if (one === 'NaN' || other === 'NaN') return Number(one === 'NaN') - Number(other === 'NaN')
  const scale = Math.max(...[one, other].map((text) => text.split('.')[1]?.length ?? 0))
  const [left, right] = [unscaled(one, scale), unscaled(other, scale)]
  return left < right ? -1 : left > right ? 1 : 0
}

function check(field: DecimalField, value: unknown): Checked {
  const { precision = MAXIMUM_PRECISION, scale } = field
  const text = typeof value === 'number' ? exactText(value) : value
  if (text === undefined) {
    const number = Number.isFinite(value) ? `the JSON number ${value}` : 'this JSON number'
    return { code: 'INVALID_FORMAT', problem: `must be a string, because ${number} is not exact` }
  }
  if (typeof text !== 'string') return wrongType('a string with a decimal number')
  if (text.length > MAXIMUM_CHARACTERS)
    return { code: 'TOO_LONG', problem: `must not be longer than ${MAXIMUM_CHARACTERS} characters` }
  const { sign = '', ...parts } = DECIMAL.exec(text)?.groups ?? {}
  const whole = parts['whole']?.replace(LEADING_ZEROS, '')
  if (whole === undefined)
    return { code: 'INVALID_FORMAT', problem: 'must be a decimal number such as "12.50"' }
  const digits = (parts['fraction'] ?? '').replace(TRAILING_ZEROS, '')
  if (whole.length > precision - (scale ?? 0)) {
    const problem = `must not have more than ${precision - (scale ?? 0)} digits before the decimal point`
    return { code: 'OUT_OF_RANGE', problem }
  }
  if (digits.length > (scale ?? MAXIMUM_PRECISION))
    return { code: 'INVALID_FORMAT', problem: `must not have more than ${scale} decimal places` }
  const places = digits.padEnd(scale ?? 0, '0')
  const unsigned = places === '' ? whole : `${whole}.${places}`
  const decimal = /[1-9]/.test(unsigned) ? sign + unsigned : unsigned
  return withinBounds(decimal, field, (bound) => compare(decimal, String(bound)))
}

function patternOf({ precision, scale, minimum = -1 }: DecimalField): string {
  const fraction = scale === 0 ? '' : `(\\.[0-9]{1,${scale}})?`
  return `${minimum < 0 ? '-?' : ''}[0-9]{1,${Math.max(precision - scale, 1)}}${fraction}`
}

export const decimalKind: Kind<DecimalField> = {
  type: 'decimal',
  guide: {
    field: decimal(10, 2, 'Price, in euros.', { minimum: 0 }),
    code: "decimal(10, 2, 'Price, in euros.', { minimum: 0 })",
    options: {
      precision: 'The number of digits, up to 100.',
      scale: 'The number of digits after the decimal point.',
      ...BOUND_OPTIONS,
    },
  },
  problems(field) {
    const { minimum, maximum, ...unbounded } = field
    const { precision, scale } = unbounded
    const areWhole = [precision, scale].every(Number.isInteger)
    if (!areWhole || precision < 1 || precision > MAXIMUM_PRECISION || scale < 0 || scale > precision)
      return [`it needs a precision from 1 to ${MAXIMUM_PRECISION}, and a scale from 0 to the precision`]
    const wrong = Object.entries({ minimum, maximum }).flatMap(([name, bound]) => {
      const checked = bound === undefined ? undefined : check(unbounded, String(bound))
      return checked && 'problem' in checked ? [`its ${name} ${checked.problem}`] : []
    })
    return wrong.length > 0 ? wrong : boundProblems(field)
  },
  columnType: 'NUMERIC',
  columnParameters: ({ precision, scale }) => `(${precision},${scale})`,
  dataType: 'numeric',
  prismaType: 'Decimal',
  fromPrisma: (value: { toFixed(places: number): string }, { scale }) => value.toFixed(scale),
  prismaAttribute: ({ precision, scale }) => `@db.Decimal(${precision}, ${scale})`,
  // In PostgreSQL, NaN is greater than all numbers.
  constraint(column, { minimum, maximum }) {
    const lower = minimum === undefined ? [] : [`${column} >= ${minimum}`]
    return [...lower, `${column} ${maximum === undefined ? `< 'NaN'` : `<= ${maximum}`}`].join(' AND ')
  },
  scalar: { name: 'Decimal', description: 'An exact decimal number, as a string: "12.50".' },
  operators: COMPARISONS,
  compare,
  isMeasurable: true,
  isExact: true,
  schema: (field) => ({ type: 'string', format: 'decimal', pattern: `^${patternOf(field)}$` }),
  characters: ({ precision }) => precision + 2,
  check,
  fromCell: pointed,
  // Filters accept numbers beyond the bounds of the field.
  fromQuery: (_, text) => check({ type: 'decimal', description: '' } as DecimalField, text),
  control: (field) => ({ type: 'text', regex: patternOf(field), placeholder: sampleOf(field, 12.5) }),
  sample: (field, _, number) => sampleOf(field, number),
}

function sampleOf({ precision, scale, minimum = 0 }: DecimalField, number: number): string {
  const whole = (minimum + Math.trunc(number)) % 10 ** (precision - scale)
  const fraction = Math.round((number % 1) * 100) / 100
  return (whole + fraction).toFixed(scale)
}

/** An exact number of `precision` digits, `scale` of them after the decimal point: a string such as "12.50". */
export function decimal(
  precision: number,
  scale: number,
  description: string,
  options: FieldOptions & Bounds = {},
): DecimalField {
  return { type: 'decimal', precision, scale, description, ...options }
}
