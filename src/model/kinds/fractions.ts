import { isObject } from '../values.ts'
import {
  type Checked,
  checkText,
  type FieldOf,
  type FieldOptions,
  JSON_DEFAULTS,
  type Kind,
  NUMBER_CHARACTERS,
  wrongType,
} from './kind.ts'
import { checkNumber } from './number.ts'

const MAXIMUM_MEMBERS = 100
const MAXIMUM_NAME_LENGTH = 100

function check(_: unknown, value: unknown): Checked {
  if (!isObject(value)) return wrongType('an object that maps names to fractions')
  const entries = Object.entries(value)
  if (entries.length > MAXIMUM_MEMBERS)
    return { code: 'TOO_LONG', problem: `must not have more than ${MAXIMUM_MEMBERS} members` }
  for (const [name, fraction] of entries) {
    // Every object inherits these names, so a patch cannot set them.
    const isReserved = name in Object.prototype || name === 'prototype'
    if (isReserved) return { code: 'INVALID_VALUE', problem: `has the reserved name ${name}` }
    const named = checkText(name, MAXIMUM_NAME_LENGTH)
    if ('problem' in named) return { ...named, problem: `must have valid names: each ${named.problem}` }
    const checked = checkNumber(fraction, { minimum: 0 })
    if ('problem' in checked)
      return { ...checked, problem: `must have valid fractions: ${name} ${checked.problem}` }
  }
  return { value }
}

export const fractionsKind: Kind<FieldOf<'fractions'>> = {
  type: 'fractions',
  guide: {
    field: fractions('Gases of the atmosphere.'),
    code: "fractions('Gases of the atmosphere.')",
    options: {},
  },
  ...JSON_DEFAULTS,
  constraint: (column) => `are_fractions(${column})`,
  scalar: { name: 'Fractions', description: 'An object that maps names to fractions, which are at least 0.' },
  schema: () => ({
    type: 'object',
    additionalProperties: { type: 'number', minimum: 0 },
    maxProperties: MAXIMUM_MEMBERS,
  }),
  characters: () => MAXIMUM_MEMBERS * (MAXIMUM_NAME_LENGTH + NUMBER_CHARACTERS),
  check,
  control: () => ({ type: 'textarea', format: 'object', placeholder: '{"name": 0.5}' }),
  sample: (_, __, number) => ({ [`gas ${number}`]: 0.25, nitrogen: 0.1 + 0.2 }),
}

/** An object that maps arbitrary names to fractions from 0. */
export function fractions(description: string, options: FieldOptions = {}): FieldOf<'fractions'> {
  return { type: 'fractions', description, ...options }
}
