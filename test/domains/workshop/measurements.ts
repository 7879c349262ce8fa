import {
  decimal,
  defineResource,
  enumeration,
  fractions,
  group,
  integer,
  json,
  list,
  number,
  text,
} from 'halgraph/domain'

export const measurements = defineResource({
  kind: 'collection',
  name: 'Measurement',
  path: 'measurements',
  description: 'A field of each kind that holds numbers, and of each that has a form of its own.',
  fields: {
    length: number('A number.'),
    repetitions: integer('An integer.'),
    price: decimal(20, 2, 'A decimal.'),
    shares: fractions('Fractions.'),
    samples: list(number('A sample.'), 'A list of numbers.'),
    remarks: json('Any JSON.'),
    notes: list(text('A note.'), 'A list of texts.'),
    methods: list(
      enumeration(['scale', 'laser'], 'A method.', { labels: { laser: 'Laser beam' } }),
      'Methods.',
    ),
    quality: enumeration(['rough', 'fine'], 'Quality.', { initially: 'rough' }),
    place: group('Place.', { room: text('Room.'), floor: integer('Floor.') }),
  },
})

export const visits = defineResource({
  kind: 'collection',
  name: 'Visit',
  path: 'visits',
  description: 'A group that cannot be left out.',
  fields: {
    place: group('Place.', { room: text('Room.'), house: text('House.', { required: true }) }),
    level: group('Level.', {
      name: enumeration(['low', 'constructor'], 'Name.', {
        initially: 'low',
        transitions: { low: ['constructor'], constructor: [] },
      }),
    }),
  },
})
