import { domainWith } from './versioned-domain.ts'

/** Fields of all shapes, with the scopes that reading them needs. */
const READ_SCOPES: Readonly<Record<string, string>> = {
  'species.habitat': 'private',
  'species.classification': 'private',
  'species.temperature_range.max_celsius': 'climate',
  'species.discovery_status': 'status',
  'species.planet_origin': 'origin',
  'species.planet_id': 'origin',
  'planets.discovery_method': 'private',
  'planets.mass_jupiters': 'private',
  'planets.discovery_year': 'private',
  'moons.radius_kilometres': 'private',
  'atmosphere.composition': 'private',
  'missions.spacecraft_id': 'fleet',
  'missions.launch_date': 'private',
  'spacecraft.crew_capacity': 'fleet',
  'astronauts.call_sign': 'private',
  'training-records.score': 'private',
}

const changes = Object.entries(READ_SCOPES).map(([name, readScope]) => [name, { readScope }])

/** The built-in domain, in which reading some fields needs a scope, and writing some others. */
export const scopedDomain = domainWith(undefined, {
  ...Object.fromEntries(changes),
  'species.common_name': { writeScope: 'names' },
  'planets.discovery_method': { readScope: 'private', required: true, initially: 'Not known' },
})
