import { number, text, timestamp } from '../model/fields.ts'
import { defineResource } from '../model/resource.ts'
import { missions } from './missions.ts'

export const data = defineResource({
  kind: 'owned',
  owner: missions,
  name: 'MissionData',
  path: 'data',
  description: 'A measurement of a mission. What was measured is never changed.',
  appendOnly: true,
  fields: {
    instrument: text('The instrument that measured.', { required: true }),
    recorded_at: timestamp('When it was measured.', { required: true }),
    quantity: text('What was measured, such as surface temperature.', { required: true }),
    value: number('The value, in the unit.', { required: true }),
    unit: text('The unit of the value.'),
  },
  example: {
    instrument: 'radiometer',
    recorded_at: '2031-07-09T04:30:00.000Z',
    quantity: 'surface temperature',
    value: 233.4,
    unit: 'K',
  },
})
