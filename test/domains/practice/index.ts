import type { Domain } from 'halgraph/domain'
import { bookings } from './bookings.ts'
import { people } from './people.ts'

export const domain: Domain = {
  title: 'Practice',
  description: 'People and their bookings. A test works on it as its author would.',
  resources: [people, bookings],
}
