import {
  type Bounds,
  COMPARISONS,
  checkNumber,
  controlBounds,
  type FieldOf,
  type Kind,
  NUMBER_CHARACTERS,
  numberIn,
  sampleNumber,
  schemaBounds,
} from './kind.ts'

export interface NumberField extends FieldOf<'number'>, Bounds {}

export const numberKind: Kind<NumberField> = {
  type: 'number',
  columnType: 'DOUBLE PRECISION',
  dataType: 'double precision',
  prismaType: 'Float',
  // A double precision number could be infinite or NaN.
  constraint(column, { minimum, maximum }) {
    const lower = minimum === undefined ? `> '-Infinity'` : `>= ${minimum}`
    const upper = maximum === undefined ? `< 'Infinity'` : `<= ${maximum}`
    return `${column} ${lower} AND ${column} ${upper}`
  },
  scalar: 'Float',
  operators: COMPARISONS,
  isMeasurable: true,
  schema: (field) => ({ type: 'number', ...schemaBounds(field) }),
  characters: () => NUMBER_CHARACTERS,
  check: (field, value) => checkNumber(value, field),
  // A number beyond the bounds of the field is valid in a filter.
  fromQuery: (_, text) => checkNumber(numberIn(text), {}),
  fromCell: numberIn,
  control: (field) => ({ type: 'number', ...controlBounds(field) }),
  sample: (field, _, number) => sampleNumber(field, number),
}

/** A finite double-precision number. The name of the field includes the unit. */
export function number(description: string, options: Partial<Omit<NumberField, 'type'>> = {}): NumberField {
  return { type: 'number', description, ...options }
}

/** A measured number that cannot be negative. */
export function magnitude(description: string): NumberField {
  return number(description, { minimum: 0 })
}
