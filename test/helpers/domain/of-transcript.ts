import type { Domain } from '../../../src/model/definition/domain.ts'
import { scopedDomain } from './scoped-domain.ts'
import { versionedDomain } from './versioned-domain.ts'
import { withAccess } from './with-access.ts'

/** The domains of files of requests, by name, that are not about the built-in one. */
export const DOMAINS: Readonly<Record<string, Domain>> = {
  'api-versions.txt': versionedDomain,
  'scopes.txt': scopedDomain,
  'access.txt': withAccess({
    planets: {
      read: ({ subject }) => ({ or: [{ host_star: { equals: subject } }, { habitable: { equals: true } }] }),
      create: ({ subject }) => ({ host_star: { equals: subject } }),
      change: ({ subject }) => ({ host_star: { equals: subject } }),
      delete: ({ subject }) => ({ host_star: { equals: subject } }),
    },
    moons: { change: () => ({ name: { notEquals: 'Fixed' } }) },
  }),
}
