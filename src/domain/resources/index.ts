import type { Resource } from '../resource.ts'
import { atmosphere } from './atmosphere.ts'
import { moons } from './moons.ts'
import { planets } from './planets.ts'
import { spacecraft } from './spacecraft.ts'
import { species } from './species.ts'

/** Every resource the service serves, in the order in which it presents them. */
export const resources: readonly Resource[] = [species, planets, moons, atmosphere, spacecraft]
