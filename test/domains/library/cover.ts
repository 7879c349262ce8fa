import { defineResource, fractions, number, text } from 'halgraph/domain'
import { books } from './books.ts'

export const cover = defineResource({
  kind: 'singleton',
  owner: books,
  name: 'Cover',
  path: 'cover',
  description: 'The cover of a book.',
  fields: {
    artist: text('Name of the artist.'),
    tilt_degrees: number('Angle of the title, in degrees.', { minimum: -180, maximum: 180 }),
    colours: fractions('Fraction of the surface by colour.'),
  },
  example: { artist: 'Noor Haddad', tilt_degrees: -4.5, colours: { blue: 0.7, white: 0.3 } },
})
