import { defineResource, reference, text } from '../definition.ts'
import { isOnNoMission } from './crew-rules.ts'

export const astronauts = defineResource({
  kind: 'collection',
  name: 'Astronaut',
  path: 'astronauts',
  description: 'An astronaut.',
  randomIdentifiers: true,
  fields: {
    name: text('Name.', { required: true }),
    call_sign: text('Call sign, unique regardless of case.', { unique: true }),
    rank: text('Rank.'),
    current_mission_id: reference(
      'missions',
      'current_mission',
      'Identifier of the open mission whose crew includes the astronaut.',
      { readOnly: true, onDelete: 'set null' },
    ),
  },
  example: { name: 'Ines Okafor', call_sign: 'Lantern', rank: 'colonel' },
  databaseRule: isOnNoMission,
})
