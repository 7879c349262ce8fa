import { defineResource, reference, text } from '../definition.ts'
import { crewCodes, mayJoinCrew } from './crew-rules.ts'
import { missions } from './missions.ts'

export const crew = defineResource({
  kind: 'owned',
  owner: missions,
  name: 'CrewMember',
  path: 'crew',
  description: 'An astronaut in the crew of a mission.',
  fields: {
    astronaut_id: reference('astronauts', 'astronaut', 'Identifier of the astronaut.', {
      required: true,
      unique: { within: 'mission_id' },
      onDelete: 'cascade',
    }),
    role: text('Role in the crew.', { required: true }),
  },
  example: { astronaut_id: 'e24c5f19-97da-4b86-b1c0-3d8a6b9f0e44', role: 'commander' },
  databaseRule: mayJoinCrew,
  detailCodes: crewCodes,
})
