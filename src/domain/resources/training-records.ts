import { defineResource, number, text, timestamp } from '../definition.ts'
import { astronauts } from './astronauts.ts'

export const trainingRecords = defineResource({
  kind: 'owned',
  owner: astronauts,
  name: 'TrainingRecord',
  path: 'training-records',
  description: 'A course that an astronaut has completed.',
  fields: {
    course: text('Name of the course.', { required: true }),
    completed_date: timestamp('Date of completion.', { required: true }),
    score: number('Score, from 0 to 100.', { minimum: 0, maximum: 100 }),
    instructor: text('Name of the instructor.'),
    expires_date: timestamp('Date of expiry.'),
  },
  access: {
    read: ({ subject, claims }, settings) =>
      settings['trainingAccess'] === 'all' ||
      claims['role'] === 'instructor' || { astronaut_id: { equals: subject } },
  },
  example: {
    course: 'Vehicle egress',
    completed_date: '2030-02-14T16:00:00.000Z',
    score: 93.5,
    instructor: 'T. Aalto',
    expires_date: '2032-02-14T16:00:00.000Z',
  },
})
