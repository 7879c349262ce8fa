import { domain } from '../../../src/domain/resources/index.ts'
import { defineResource } from '../../../src/model/definition/define-resource.ts'
import type { ApiVersion, Domain } from '../../../src/model/definition/domain.ts'
import type { Field, GroupField } from '../../../src/model/definition/fields.ts'
import type { Resource } from '../../../src/model/definition/resource.ts'

/** Changes of fields, by dotted name below the path of the resource: `species.habitat`. */
export type FieldChanges = Readonly<Record<string, Partial<Field>>>

/**
 * The built-in domain with these versions and changed fields. Its tables are the same, so the column of a field that
 * becomes required can be null: then only the service itself may insert rows, and not a rule.
 */
export function domainWith(versions: readonly ApiVersion[] | undefined, changes: FieldChanges): Domain {
  const made = new Map<string, Resource>()
  for (const { owner, ...resource } of domain.resources) {
    const fields = Object.entries(resource.fields).map(([name, field]) => [
      name,
      changed(`${resource.path}.${name}`, field, changes),
    ])
    const parent = owner && { owner: made.get(owner.path) as Resource }
    made.set(
      resource.path,
      defineResource({ ...resource, ...parent, fields: Object.fromEntries(fields) as Resource['fields'] }),
    )
  }
  return { ...domain, ...(versions && { versions }), resources: [...made.values()] }
}

function changed(place: string, field: Field, changes: FieldChanges): Field {
  const same = { ...field, ...changes[place] } as Field
  if (same.type !== 'group') return same
  const members = Object.entries(same.fields).map(([name, member]) => [
    name,
    changed(`${place}.${name}`, member, changes),
  ])
  return { ...same, fields: Object.fromEntries(members) as GroupField['fields'] }
}

/** Two versions of the built-in domain, of which the first is deprecated. */
export const versionedDomain = domainWith(
  [{ name: 'v1', deprecated: '2023-06-30T23:59:59Z', sunset: '2031-01-01' }, { name: 'v2' }],
  {
    'species.habitat': { until: 'v1' },
    'species.intelligence_level': { until: 'v1', required: true, initially: 'unknown' },
    'species.planet_id': { until: 'v1' },
    'species.temperature_range.max_celsius': { since: 'v2' },
    'planets.habitable': { since: 'v2' },
    'planets.discovery_method': { since: 'v2', required: true, initially: 'Not known' },
    'missions.spacecraft_id': { until: 'v1' },
    'moons.tidally_locked': { since: 'v2' },
  },
)
