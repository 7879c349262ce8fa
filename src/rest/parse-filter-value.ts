import type { LeafField } from '../domain/model/fields.ts'
import type { Operator } from '../domain/model/query.ts'
import type { Leaf } from '../domain/model/resource.ts'
import { type Checked, checkValue, isStorable } from '../domain/model/values.ts'

const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/** The value of a filter, typed as its field is; `in` has several, joined by `|`. */
export function parseFilterValue({ field }: Leaf, operator: Operator, text: string): Checked {
  if (operator !== 'in') return parseOne(field, text)
  const values = text.split('|').map((part) => parseOne(field, part))
  const problem = values.find((checked) => 'problem' in checked)
  return problem ?? { value: values.map((checked) => (checked as { value: unknown }).value) }
}

function parseOne(field: LeafField, text: string): Checked {
  switch (field.type) {
    case 'number':
    case 'integer':
      // A bound that no value of the field can reach is still a question with an answer.
      return checkValue({ type: field.type, description: '', ...INTEGER_BOUNDS[field.type] }, numberIn(text))
    case 'boolean':
      return checkValue(field, text === 'true' ? true : text === 'false' ? false : text)
    case 'timestamp':
    case 'enumeration':
      return checkValue(field, text)
    default:
      return isStorable(text)
        ? { value: text }
        : { code: 'INVALID_VALUE', problem: 'must not hold U+0000 or half of a surrogate pair' }
  }
}

const INTEGER_BOUNDS = { number: {}, integer: { minimum: -2147483648, maximum: 2147483647 } }

function numberIn(text: string): number | string {
  return NUMBER.test(text) ? Number(text) : text
}
