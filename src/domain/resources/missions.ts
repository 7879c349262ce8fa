import { defineResource, enumeration, reference, text, timestamp } from '../definition.ts'
import { crewCodes, crewFitsSpacecraft } from './crew-rules.ts'

export const missions = defineResource({
  kind: 'collection',
  name: 'Mission',
  path: 'missions',
  description: 'A mission to a planet.',
  fields: {
    name: text('Name, unique regardless of case.', { required: true, unique: true }),
    objective: text('Objective of the mission.', { maximumLength: 10_000 }),
    status: enumeration(
      ['planned', 'active', 'completed', 'aborted'],
      'Status. A new mission is planned; if omitted, the status does not change.',
      {
        initially: 'planned',
        transitions: {
          planned: ['active', 'aborted'],
          active: ['completed', 'aborted'],
          completed: [],
          aborted: [],
        },
      },
    ),
    launch_date: timestamp('Date of the launch.'),
    destination_planet_id: reference('planets', 'destination', 'Identifier of the destination planet.'),
    spacecraft_id: reference('spacecraft', 'spacecraft', 'Identifier of the spacecraft.'),
  },
  example: {
    name: 'Lantern One',
    objective: 'Find out what lives in the light of Kepler-22.',
    launch_date: '2031-06-01T12:00:00.000Z',
    destination_planet_id: 'kepler-22b',
    spacecraft_id: 'meridian',
  },
  databaseRule: crewFitsSpacecraft,
  detailCodes: crewCodes,
})
