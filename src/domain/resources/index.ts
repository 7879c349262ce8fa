import type { Domain } from '../definition.ts'
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

export const domain: Domain = {
  title: 'Space exploration',
  description: 'A catalogue of species and planets, and missions with their crews.',
  resources: [
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
  ],
  settings: {
    PLANET_REFERENCE: {
      description: 'An unknown planet_origin creates the planet (stub) or is refused (strict)',
      choices: ['stub', 'strict'],
    },
    TRAINING_ACCESS: {
      description:
        'Training records are read by all, or own: by their astronaut (sub) and by instructors (role)',
      choices: ['all', 'own'],
    },
  },
}
