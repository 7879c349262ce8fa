import type { Body } from './fixtures.ts'

/**
 * What the bodies of a resource must be for its rules to let them pass, where its fields alone do not
 * tell, by path. Everything else about a fixture follows from the definition.
 */
export const fixtureOverrides: Readonly<Record<string, Body>> = {
  missions: { status: 'planned' },
  spacecraft: { crew_capacity: 1000 },
}
