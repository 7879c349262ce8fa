import {
  boolean,
  type Detail,
  defineResource,
  group,
  number,
  reference,
  text,
  type Values,
} from '../definition.ts'
import { planetOriginCodes, resolvePlanetOrigin } from './planet-origin.ts'

const ABSOLUTE_ZERO_CELSIUS = -273.15

/** The species catalogue (SPEC §2.1). */
export const species = defineResource({
  kind: 'collection',
  name: 'Species',
  path: 'species',
  description: 'A species in the catalogue.',
  createdField: 'discovered_date',
  searchIndex: true,
  updatedIndex: true,
  fields: {
    scientific_name: text('Scientific name, unique regardless of case.', {
      required: true,
      unique: true,
      index: 'sort',
    }),
    common_name: text('Common name.', { index: 'sort' }),
    classification: group('Taxonomic classification.', {
      kingdom: text('Kingdom.', { index: 'sort' }),
      class: text('Class.', { index: 'sort' }),
      phylum: text('Phylum.', { index: 'sort' }),
    }),
    habitat: text('Habitat.', { index: 'sort' }),
    planet_origin: text('Planet of origin: the identifier or the name of a planet.', {
      label: 'Planet of origin',
      alsoMatches: 'planet_id',
      index: 'filter',
    }),
    planet_id: reference('planets', 'planet', 'Identifier of the planet of origin.', {
      hidden: true,
      nested: true,
    }),
    temperature_range: group('Temperatures in which the species can live.', {
      min_celsius: number('Lowest temperature, in degrees Celsius.', {
        label: 'Minimum',
        unit: '°C',
        index: 'filter',
      }),
      max_celsius: number('Highest temperature, in degrees Celsius.', {
        label: 'Maximum',
        unit: '°C',
        index: 'filter',
      }),
    }),
    bioluminescent: boolean('Whether the species produces light.', { index: 'sort' }),
    intelligence_level: text('Estimated level of intelligence.', { index: 'sort' }),
    discovery_status: text('State of the catalogue entry.', {
      readOnly: true,
      initially: 'newly_catalogued',
      index: 'sort',
    }),
  },
  example: {
    scientific_name: 'Luminara profundis',
    common_name: 'Deep lantern',
    classification: { kingdom: 'Animalia', class: 'Lucidae', phylum: 'Cnidaria' },
    habitat: 'abyssal ocean',
    planet_origin: 'Europa Prime',
    temperature_range: { min_celsius: -2, max_celsius: 14.5 },
    bioluminescent: true,
    intelligence_level: 'social',
  },
  checks: [temperaturesInOrder],
  rules: [aboveAbsoluteZero],
  databaseRule: resolvePlanetOrigin,
  detailCodes: {
    ...planetOriginCodes,
    BELOW_ABSOLUTE_ZERO: {
      cause: 'A temperature is below −273.15 °C.',
      remedy: 'Send a temperature of at least −273.15 °C.',
    },
  },
})

function temperatureRange(values: Values) {
  return (values['temperature_range'] ?? {}) as { readonly [bound in 'min_celsius' | 'max_celsius']?: number }
}

function temperaturesInOrder(values: Values): Detail[] {
  const { min_celsius = -Infinity, max_celsius = Infinity } = temperatureRange(values)
  if (min_celsius <= max_celsius) return []
  // The message omits the values: a patch reveals stored ones, which the caller may lack the scope to read.
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
