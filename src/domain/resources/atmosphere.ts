import {
  boolean,
  type Detail,
  defineResource,
  fractions,
  magnitude,
  text,
  type Values,
} from '../definition.ts'
import { planets } from './planets.ts'

/** Tolerates rounding in measured fractions and in binary arithmetic. */
const ROUNDING = 1e-9

export const atmosphere = defineResource({
  kind: 'singleton',
  owner: planets,
  name: 'Atmosphere',
  path: 'atmosphere',
  description: 'The atmosphere of a planet.',
  fields: {
    surface_pressure_kilopascals: magnitude('Pressure at the surface, in kilopascals.', {
      label: 'Surface pressure',
      unit: 'kPa',
    }),
    breathable: boolean('Whether humans can breathe it.'),
    dominant_gas: text('The most abundant gas.'),
    composition: fractions('Fraction of the volume by gas. The sum must not exceed 1.'),
  },
  example: {
    surface_pressure_kilopascals: 94.2,
    breathable: false,
    dominant_gas: 'nitrogen',
    composition: { nitrogen: 0.76, 'carbon dioxide': 0.2, argon: 0.04 },
  },
  rules: [fractionsOfOneWhole],
  detailCodes: {
    INVALID_COMPOSITION: {
      cause: 'The fractions of a composition add up to more than 1.',
      remedy: 'Send fractions that add up to 1 at most.',
    },
  },
})

function fractionsOfOneWhole(values: Values): Detail[] {
  const composition = (values['composition'] ?? {}) as Readonly<Record<string, number>>
  const sum = Object.values(composition).reduce((total, fraction) => total + fraction, 0)
  if (sum <= 1 + ROUNDING) return []
  // The message omits the sum: a patch reveals stored values, which the caller may lack the scope to read.
  const message = 'The fractions of composition add up to more than 1.'
  return [{ field: 'composition', code: 'INVALID_COMPOSITION', message }]
}
