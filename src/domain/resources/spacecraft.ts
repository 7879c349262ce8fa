import { defineResource, enumeration, integer, magnitude, text, timestamp } from '../definition.ts'
import { capacityFitsCrews, crewCodes } from './crew-rules.ts'

export const spacecraft = defineResource({
  kind: 'collection',
  name: 'Spacecraft',
  path: 'spacecraft',
  description: 'A spacecraft for missions.',
  fields: {
    name: text('Name, unique regardless of case.', { required: true, unique: true }),
    kind: enumeration(['orbiter', 'lander', 'rover', 'capsule', 'station'], 'Type of the spacecraft.', {
      required: true,
    }),
    crew_capacity: integer('Maximum size of a crew. If unset, there is no known limit.', { minimum: 0 }),
    dry_mass_kilograms: magnitude('Mass without propellant, in kilograms.', {
      label: 'Dry mass',
      unit: 'kg',
    }),
    launched_date: timestamp('Date of the launch.'),
  },
  example: {
    name: 'Perihelion',
    kind: 'capsule',
    crew_capacity: 4,
    dry_mass_kilograms: 9300,
    launched_date: '2030-11-02T08:15:00.000Z',
  },
  databaseRule: capacityFitsCrews,
  detailCodes: crewCodes,
})
