import type { LeafField, NumberField } from '../../src/domain/model/fields.ts'
import type { Json } from './client.ts'

type ValueField = Exclude<LeafField, { type: 'reference' }>

/**
 * A valid value for a field. The number tells one body from the next; the index is the field's place in
 * its definition, and makes later numbers and moments greater than earlier ones, as ranges want them.
 */
export function sampleValue(field: ValueField, name: string, number: number, index: number): Json {
  switch (field.type) {
    case 'text':
      return `${name.replaceAll(/[_.]/g, ' ')} №${number}`.slice(-field.maximumLength)
    case 'number':
      return within(field, number + index / 100)
    case 'integer':
      return within(field, number)
    case 'boolean':
      return number % 2 === 1
    case 'timestamp':
      return new Date(Date.UTC(2031, 3, 5, 6, 7, 8, 900) + number * 86_400_000 + index).toISOString()
    case 'enumeration':
      return field.values[0]
    case 'fractions':
      return { [`gas ${number}`]: 0.25, nitrogen: 0.1 + 0.2 }
  }
}

function within({ minimum = -Infinity, maximum = Infinity }: NumberField, value: number): number {
  const least = Math.max(minimum, 0)
  return Number.isFinite(maximum) ? least + (value % (maximum - least)) : least + value
}

/** Values that are valid for a field and likely to be kept wrongly, each in the form it is answered in. */
export function awkwardValues(field: ValueField): Json[] {
  switch (field.type) {
    case 'text':
      return [
        '  “quoted” ’ \\ / % _ ?',
        'ÅngströmΩ漢字 🪐👩‍🚀 \u200f',
        'null',
        '\t\r\n\u2028',
        '0',
        "'; DROP TABLE species; --",
      ].map((text) => `x${text}x`)
    case 'number':
    case 'integer':
      return awkwardNumbers(field)
    case 'boolean':
      return [true, false]
    case 'timestamp':
      return ['0001-01-01T00:00:00.000Z', '1582-10-10T00:00:00.001Z', '9999-12-31T23:59:59.999Z']
    case 'enumeration':
      return []
    case 'fractions':
      return [{}, { 'a b': 1e-9, '🌫️.$"': 0.1 }]
  }
}

const NUMBERS = [0, 1, -1, 0.1, 0.1 + 0.2, -273.15, 1e21, 5e-324, Number.MAX_VALUE, 2147483647, -2147483648]

function awkwardNumbers({ type, minimum = -Infinity, maximum = Infinity }: NumberField): number[] {
  const bounds = [minimum, maximum].filter(Number.isFinite)
  return [...NUMBERS, ...bounds].filter(
    (value) => value >= minimum && value <= maximum && (type === 'number' || Number.isInteger(value)),
  )
}

/** Values of another type than the field's. */
export function wrongTypes(field: LeafField): Json[] {
  const all: Json[] = ['text', 1, 1.5, true, [], {}, ['text']]
  switch (field.type) {
    case 'text':
    case 'reference':
    case 'enumeration':
    case 'timestamp':
      return all.filter((value) => typeof value !== 'string')
    case 'number':
      return ['1', ...all.filter((value) => typeof value !== 'number')]
    case 'integer':
      return ['1', 1.5, ...all.filter((value) => typeof value !== 'number')]
    case 'boolean':
      return ['true', 0, ...all.filter((value) => typeof value !== 'boolean')]
    case 'fractions':
      return ['text', 1, true, [], { oxygen: '0.2' }]
  }
}
