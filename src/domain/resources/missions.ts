import {
  type Detail,
  defineResource,
  enumeration,
  reference,
  text,
  timestamp,
  type Values,
} from '../definition.ts'
import { crewCodes, crewFitsSpacecraft } from './crew-rules.ts'

/** The transitions from each status. */
const TRANSITIONS: Readonly<Record<string, readonly string[]>> = {
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
    name: text('Name, unique regardless of case.', { required: true, unique: true }),
    objective: text('Objective of the mission.', { maximumLength: 10_000 }),
    status: enumeration(
      Object.keys(TRANSITIONS),
      'Status. A new mission is planned; if omitted, the status does not change.',
      { initially: 'planned' },
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
  rules: [allowedTransition],
  databaseRule: crewFitsSpacecraft,
  detailCodes: {
    ...crewCodes,
    INVALID_STATUS_TRANSITION: {
      cause: 'The status cannot change from its current value to this one.',
      remedy: 'Use one of the transitions that the message lists.',
    },
  },
})

function allowedTransition(values: Values, before: Values | undefined): Detail[] {
  const status = values['status'] as string
  const [from, allowed] = before
    ? [before['status'] as string, TRANSITIONS[before['status'] as string] ?? []]
    : ['new', ['planned']]
  if (status === from || allowed.includes(status)) return []
  const moves = allowed.length > 0 ? `, only ${allowed.join(' or ')}` : ''
  const article = from === 'active' || from === 'aborted' ? 'An' : 'A'
  const message = `${article} ${from} mission cannot become ${status}${moves}.`
  return [{ field: 'status', code: 'INVALID_STATUS_TRANSITION', message }]
}
