import {
  boolean,
  date,
  decimal,
  defineResource,
  enumeration,
  fractions,
  integer,
  json,
  list,
  number,
  reference,
  text,
  timestamp,
} from 'halgraph/domain'

const kinds = (options: { required?: true }) => ({
  text: text('A text.', { pattern: '[a-z]+', example: 'a', ...options }),
  enumeration: enumeration(['low', 'high'], 'A level.', options),
  number: number('A number.', { minimum: 0, ...options }),
  integer: integer('An integer.', { minimum: 0, ...options }),
  decimal: decimal(8, 2, 'A decimal.', { minimum: 0, ...options }),
  boolean: boolean('A boolean.', options),
  timestamp: timestamp('A time.', options),
  date: date('A day.', options),
  fractions: fractions('Fractions.', options),
  json: json('Any JSON.', { maximumBytes: 100, ...options }),
  levels: list(enumeration(['low', 'high'], 'A level.'), 'Levels.', options),
  numbers: list(integer('An integer.', { minimum: 0 }), 'Integers.', { maximum: 2, ...options }),
  days: list(date('A day.'), 'Days.', options),
})

const named = (prefix: string, options: { required?: true }) =>
  Object.fromEntries(Object.entries(kinds(options)).map(([name, field]) => [`${prefix}_${name}`, field]))

export const outliers = defineResource({
  kind: 'collection',
  name: 'Outlier',
  path: 'outliers',
  description: 'A field of each kind, once optional and once required. The rows of a test are not valid.',
  fields: {
    ...named('any', {}),
    ...named('set', { required: true }),
    measurement_id: reference('measurements', 'measurement', 'A measurement.'),
  },
})
