import { enumeration, integer, magnitude, text, timestamp } from '../model/fields.ts'
import { defineResource } from '../model/resource.ts'
import { capacityFitsCrews } from './crew-rules.ts'

export const spacecraft = defineResource({
  kind: 'collection',
  name: 'Spacecraft',
  path: 'spacecraft',
  description: 'A spacecraft that missions fly with.',
  fields: {
    name: text('Name, unique whatever its case.', { required: true, unique: true }),
    kind: enumeration(['orbiter', 'lander', 'rover', 'capsule', 'station'], 'What it is made for.', {
      required: true,
    }),
    crew_capacity: integer('How many can be aboard; no limit is known where it is not set.', { minimum: 0 }),
    dry_mass_kilograms: magnitude('Mass without propellant, in kilograms.'),
    launched_date: timestamp('When it was launched.'),
  },
  example: {
    name: 'Meridian',
    kind: 'capsule',
    crew_capacity: 4,
    dry_mass_kilograms: 9300,
    launched_date: '2030-11-02T08:15:00.000Z',
  },
  databaseRule: capacityFitsCrews,
})
