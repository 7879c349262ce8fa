import type { Domain } from '../../../src/model/domain.ts'
import type { Field, GroupField } from '../../../src/model/fields.ts'
import { defineResource, type Resource } from '../../../src/model/resource.ts'
import { domain } from './domain.ts'
import { domainWith } from './versioned-domain.ts'

/** Fields of all shapes, with the scopes that reading them needs. */
export const READ_SCOPES: Readonly<Record<string, string>> = {
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

/** The built-in domain, in which only reading needs scopes. */
export const readScopedDomain = domainWith(undefined, Object.fromEntries(changes))

/** The built-in domain without the fields that need a scope. */
export const openDomain: Domain = { ...domain, resources: withoutFields(domain.resources) }

function withoutFields(resources: readonly Resource[]): Resource[] {
  const made = new Map<string, Resource>()
  for (const { owner, example, ...resource } of resources) {
    const fields = keptFields(resource.path, resource.fields) as Resource['fields']
    const parent = owner && { owner: made.get(owner.path) as Resource }
    made.set(resource.path, defineResource({ ...resource, ...parent, fields }))
  }
  return [...made.values()]
}

function keptFields(place: string, fields: Readonly<Record<string, Field>>): Record<string, Field> {
  const kept = Object.entries(fields).filter(([name]) => !(`${place}.${name}` in READ_SCOPES))
  const members = kept.map(([name, field]) => {
    if (field.type !== 'group') return [name, field]
    return [name, { ...field, fields: keptFields(`${place}.${name}`, field.fields) as GroupField['fields'] }]
  })
  return Object.fromEntries(members)
}
