import { INTEGER_RANGE } from '../../../src/domain/definition.ts'
import { kindOf, type LeafField } from '../../../src/model/definition/fields.ts'
import type { Bounds } from '../../../src/model/kinds/number.ts'
import type { Json } from '../service/client.ts'

/**
 * A valid value for a field. The number tells one body from the next; the index is the field's place in
 * its definition, and makes later numbers and moments greater than earlier ones, as ranges want them.
 */
export function sampleValue(field: LeafField, name: string, number: number, index: number): Json {
  return kindOf(field).sample(field, name, number + index / 100)
}

/** Values that are valid for a field and likely to be kept wrongly, each in the form it is answered in. */
export function awkwardValues(field: LeafField): Json[] {
  switch (field.type) {
    case 'text':
      if (field.format || field.pattern) return []
      return [
        '  “quoted” ’ \\ / % _ ?',
        'ÅngströmΩ漢字 🪐👩‍🚀 \u200f',
        'null',
        '\t\r\n\u2028',
        '0',
        "'; DROP TABLE species; --",
      ].map((text) => `x${text}x`)
    case 'number':
      return awkwardNumbers(field)
    case 'integer':
      return awkwardNumbers({ ...INTEGER_RANGE, ...field }).filter(Number.isInteger)
    case 'decimal': {
      const whole = '9'.repeat(field.precision - field.scale)
      return ['0', '7', whole].map((digits) => `${digits}.${'9'.repeat(field.scale)}`)
    }
    case 'json':
      return [0, '', false, [], {}, [1e-300, [{ 'a "b"': '🪐' }]], { b: null, a: 1 }]
    case 'list':
      return [[], field.item.type === 'text' ? ['x “quoted” , \\ 🪐', 'x'] : awkwardValues(field.item)]
    case 'boolean':
      return [true, false]
    case 'timestamp':
      return ['0001-01-01T00:00:00.000Z', '1582-10-10T00:00:00.001Z', '9999-12-31T23:59:59.999Z']
    case 'date':
      return ['0001-01-01', '1582-10-10', '2032-02-29', '9999-12-31']
    case 'fractions':
      return [{}, { 'a b': 1e-9, '🌫️.$"': 0.1 }]
    default:
      return []
  }
}

const NUMBERS = [0, 1, -1, 0.1, 0.1 + 0.2, -273.15, 1e21, 5e-324, Number.MAX_VALUE, 2147483647, -2147483648]

function awkwardNumbers({ minimum = -Infinity, maximum = Infinity }: Bounds): number[] {
  const bounds = [minimum, maximum].filter(Number.isFinite)
  return [...NUMBERS, ...bounds].filter((value) => value >= minimum && value <= maximum)
}

/** Values of another type than the field's. */
export function wrongTypes(field: LeafField): Json[] {
  const { type } = kindOf(field).schema(field)
  const all: Json[] = ['text', '1', 'true', 1, 0, 1.5, true, [], {}, ['text'], { oxygen: '0.2' }]
  return all.filter((value) => {
    // A number that is exact is taken as one.
    if (field.type === 'json') return false
    if (field.type === 'decimal' && typeof value === 'number') return false
    if (type === 'integer') return !Number.isInteger(value)
    if (type === 'array') return !Array.isArray(value)
    if (type === 'object') return typeof value !== 'object' || Array.isArray(value) || 'oxygen' in value
    return typeof value !== type
  })
}
