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
      uniqueWithinParent: true,
      onDelete: 'cascade',
    }),
    role: text('Role in the crew.', { required: true }),
  },
  example: { astronaut_id: '6f1c9f0e-2f0b-4f5e-9a55-6d5a3f1f2a10', role: 'commander' },
  databaseRule: mayJoinCrew,
  detailCodes: crewCodes,
})
