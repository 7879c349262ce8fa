import { defineResource, number, text, timestamp } from '../definition.ts'
import { missions } from './missions.ts'

export const data = defineResource({
  kind: 'owned',
  owner: missions,
  name: 'MissionData',
  path: 'data',
  description: 'A measurement of a mission. Measurements cannot be changed.',
  appendOnly: true,
  fields: {
    instrument: text('Measuring instrument.', { required: true }),
    recorded_at: timestamp('Time of the measurement.', { required: true }),
    quantity: text('Measured quantity, such as surface temperature.', { required: true }),
    value: number('Measured value, in the unit.', { required: true }),
    unit: text('Unit of the value.'),
  },
  example: {
    instrument: 'radiometer',
    recorded_at: '2031-07-09T04:30:00.000Z',
    quantity: 'surface temperature',
    value: 233.4,
    unit: 'K',
  },
})
