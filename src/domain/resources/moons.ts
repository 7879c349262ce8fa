import { boolean, defineResource, magnitude, text } from '../definition.ts'
import { planets } from './planets.ts'

export const moons = defineResource({
  kind: 'owned',
  owner: planets,
  name: 'Moon',
  path: 'moons',
  description: 'A moon of a planet.',
  fields: {
    name: text('Name.', { required: true }),
    radius_kilometres: magnitude('Radius, in kilometres.', { label: 'Radius', unit: 'km' }),
    orbital_period_days: magnitude('Orbital period around the planet, in days.', {
      label: 'Orbital period',
      unit: 'days',
    }),
    tidally_locked: boolean('Whether the same side always faces the planet.'),
  },
  example: {
    name: 'Kepler-442b I',
    radius_kilometres: 1560,
    orbital_period_days: 3.55,
    tidally_locked: true,
  },
})
