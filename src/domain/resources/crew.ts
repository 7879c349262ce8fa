import { reference, text } from '../fields.ts'
import { defineResource } from '../resource.ts'
import { mayJoinCrew } from './crew-places.ts'
import { missions } from './missions.ts'

export const crew = defineResource({
  kind: 'owned',
  owner: missions,
  name: 'CrewMember',
  path: 'crew',
  description: 'An astronaut in the crew of a mission.',
  fields: {
    astronaut_id: reference('astronauts', 'astronaut', 'Identifier of the astronaut.', { required: true }),
    role: text('What they do aboard.', { required: true }),
  },
  guard: mayJoinCrew,
})
