import type { Detail } from '../model/errors.ts'
import { enumeration, reference, text, timestamp } from '../model/fields.ts'
import { defineResource, type Values } from '../model/resource.ts'
import { crewFitsSpacecraft } from './crew-rules.ts'

/** The states of a mission, and where each can go: what is completed or aborted stays so. */
const MOVES: Readonly<Record<string, readonly string[]>> = {
  planned: ['active', 'aborted'],
  active: ['completed', 'aborted'],
  completed: [],
  aborted: [],
}

export const missions = defineResource({
  kind: 'collection',
  name: 'Mission',
  path: 'missions',
  description: 'A mission to a planet.',
  fields: {
    name: text('Name, unique whatever its case.', { required: true, unique: true }),
    objective: text('What it is to find out or to do.', { maximumLength: 10_000 }),
    status: enumeration(
      Object.keys(MOVES),
      'Where it stands. Planned at first; left out, it stays as it is.',
      {
        initially: 'planned',
      },
    ),
    launch_date: timestamp('When it leaves, or left.'),
    destination_planet_id: reference('planets', 'destination', 'Identifier of the planet it goes to.'),
    spacecraft_id: reference('spacecraft', 'spacecraft', 'Identifier of the spacecraft it flies with.'),
  },
  example: {
    name: 'Lantern One',
    objective: 'Find out what makes light in the deep of Kepler-442b.',
    launch_date: '2031-06-01T12:00:00.000Z',
    destination_planet_id: 'kepler-442b',
    spacecraft_id: 'meridian',
  },
  rules: [statusMoves],
  databaseRule: crewFitsSpacecraft,
})

function statusMoves(values: Values, before: Values | undefined): Detail[] {
  const status = values['status'] as string
  const [from, allowed] = before
    ? [before['status'] as string, MOVES[before['status'] as string] ?? []]
    : ['new', ['planned']]
  if (status === from || allowed.includes(status)) return []
  const moves = allowed.length > 0 ? `can only become ${allowed.join(' or ')}` : 'stays so'
  const message = `A mission that is ${from} ${moves}, not ${status}.`
  return [{ field: 'status', code: 'INVALID_STATUS_TRANSITION', message }]
}
