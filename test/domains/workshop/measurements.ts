import { decimal, defineResource, fractions, integer, json, list, number } from 'halgraph/domain'

export const measurements = defineResource({
  kind: 'collection',
  name: 'Measurement',
  path: 'measurements',
  description: 'A field of each kind that holds numbers.',
  fields: {
    length: number('A number.'),
    repetitions: integer('An integer.'),
    price: decimal(20, 2, 'A decimal.'),
    shares: fractions('Fractions.'),
    samples: list(number('A sample.'), 'A list of numbers.'),
    remarks: json('Any JSON.'),
  },
})
