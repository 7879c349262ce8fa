import type { RuleSettings } from '../model/database-rule.ts'
import type { Resource } from '../model/resource.ts'
import { astronauts } from './astronauts.ts'
import { atmosphere } from './atmosphere.ts'
import { crew } from './crew.ts'
import { data } from './data.ts'
import { missions } from './missions.ts'
import { moons } from './moons.ts'
import { planets } from './planets.ts'
import { spacecraft } from './spacecraft.ts'
import { species } from './species.ts'
import { trainingRecords } from './training-records.ts'

/** Selects the settings of the service for rules. */
export function ruleSettings({
  planetReference,
}: {
  readonly planetReference: 'stub' | 'strict'
}): RuleSettings {
  return { planetReference }
}

/** All resources, in the order of documents and listings. */
export const resources: readonly Resource[] = [
  species,
  planets,
  moons,
  atmosphere,
  spacecraft,
  missions,
  crew,
  data,
  astronauts,
  trainingRecords,
]
