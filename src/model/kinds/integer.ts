import { type Checked, COMPARISONS, type FieldOf, type Kind, wrongType } from './kind.ts'
import {
  type Bounds,
  boundProblems,
  checkNumber,
  controlBounds,
  numberIn,
  numberInCell,
  sampleNumber,
  schemaBounds,
} from './number.ts'

export interface IntegerField extends FieldOf<'integer'>, Bounds {}

/** Signed 32-bit integers: the integer type of PostgreSQL and GraphQL. */
export const INTEGER_RANGE = { minimum: -2147483648, maximum: 2147483647 }

function check(bounds: Bounds, value: unknown): Checked {
  const isWhole = typeof value === 'number' && (Number.isInteger(value) || !Number.isFinite(value))
  return isWhole ? checkNumber(value, bounds) : wrongType('an integer')
}

export const integerKind: Kind<IntegerField> = {
  type: 'integer',
  guide: {
    field: integer('Number of pages.', { minimum: 1, maximum: 20_000 }),
    code: "integer('Number of pages.', { minimum: 1, maximum: 20_000 })",
    options: {
      minimum: 'The least value; -2147483648 by default.',
      maximum: 'The greatest value; 2147483647 by default.',
    },
  },
  columnType: 'INTEGER',
  dataType: 'integer',
  prismaType: 'Int',
  problems: boundProblems,
  // The column's type has bounds of its own.
  constraint(column, { minimum = INTEGER_RANGE.minimum, maximum = INTEGER_RANGE.maximum }) {
    const conditions = [
      ...(minimum === INTEGER_RANGE.minimum ? [] : [`${column} >= ${minimum}`]),
      ...(maximum === INTEGER_RANGE.maximum ? [] : [`${column} <= ${maximum}`]),
    ]
    return conditions.length > 0 ? conditions.join(' AND ') : undefined
  },
  scalar: 'Int',
  operators: COMPARISONS,
  isMeasurable: true,
  schema: (field) => ({ type: 'integer', ...schemaBounds(field) }),
  check,
  // Filters accept integers beyond the bounds of the field.
  fromQuery: (_, text) => check(INTEGER_RANGE, numberIn(text)),
  fromCell: numberInCell,
  control: (field) => ({ type: 'number', step: 1, ...controlBounds({ ...INTEGER_RANGE, ...field }) }),
  sample: (field, _, number) => sampleNumber(field, Math.trunc(number)),
}

export function integer(
  description: string,
  options: Partial<Omit<IntegerField, 'type'>> = {},
): IntegerField {
  return { type: 'integer', description, ...INTEGER_RANGE, ...options }
}
