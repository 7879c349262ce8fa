import type { Detail } from '../model/errors.ts'
import { boolean, group, number, reference, text } from '../model/fields.ts'
import { defineResource, type Values } from '../model/resource.ts'
import { resolvePlanetOrigin } from './planet-origin.ts'

const ABSOLUTE_ZERO_CELSIUS = -273.15

/** The species catalogue (SPEC §2.1). */
export const species = defineResource({
  kind: 'collection',
  name: 'Species',
  path: 'species',
  description: 'A species of the catalogue.',
  createdField: 'discovered_date',
  fields: {
    scientific_name: text('Scientific name, unique whatever its case.', { required: true, unique: true }),
    common_name: text('Name in everyday language.'),
    classification: group('Place in the taxonomy.', {
      kingdom: text('Kingdom.'),
      class: text('Class.'),
      phylum: text('Phylum.'),
    }),
    habitat: text('Where it lives.'),
    planet_origin: text('The planet it comes from: the identifier or the name of a planet.', {
      alsoMatches: 'planet_id',
    }),
    planet_id: reference('planets', 'planet', 'Identifier of the planet that planet_origin means.', {
      hidden: true,
      nested: true,
    }),
    temperature_range: group('The temperatures it can live in.', {
      min_celsius: number('Lowest temperature, in degrees Celsius.'),
      max_celsius: number('Highest temperature, in degrees Celsius.'),
    }),
    bioluminescent: boolean('Whether it makes light.'),
    intelligence_level: text('How intelligent it is thought to be.'),
    discovery_status: text('State of its cataloguing.', {
      readOnly: true,
      initially: 'newly_catalogued',
    }),
  },
  example: {
    scientific_name: 'Luminara profundis',
    common_name: 'Deep lantern',
    classification: { kingdom: 'Animalia', class: 'Lucidae', phylum: 'Cnidaria' },
    habitat: 'abyssal ocean',
    planet_origin: 'Kepler-442b',
    temperature_range: { min_celsius: -2, max_celsius: 14.5 },
    bioluminescent: true,
    intelligence_level: 'social',
  },
  checks: [temperaturesInOrder],
  rules: [aboveAbsoluteZero],
  databaseRule: resolvePlanetOrigin,
})

interface TemperatureRange {
  readonly min_celsius?: number
  readonly max_celsius?: number
}

function temperatureRange(values: Values): TemperatureRange {
  return (values['temperature_range'] as TemperatureRange | undefined) ?? {}
}

function temperaturesInOrder(values: Values): Detail[] {
  const { min_celsius = -Infinity, max_celsius = Infinity } = temperatureRange(values)
  if (min_celsius <= max_celsius) return []
  // Without the values: of a patch, one may be stored, and the caller may lack the scope to read it.
  const message = 'min_celsius must not exceed max_celsius.'
  return [{ field: 'temperature_range.min_celsius', code: 'INVALID_RANGE', message }]
}

function aboveAbsoluteZero(values: Values): Detail[] {
  return Object.entries(temperatureRange(values))
    .filter(([, celsius]) => celsius < ABSOLUTE_ZERO_CELSIUS)
    .map(([bound]) => ({
      field: `temperature_range.${bound}`,
      code: 'BELOW_ABSOLUTE_ZERO',
      message: `${bound} must not be below absolute zero, ${ABSOLUTE_ZERO_CELSIUS} °C.`,
    }))
}
