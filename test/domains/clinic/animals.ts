import {
  boolean,
  computed,
  date,
  decimal,
  defineResource,
  enumeration,
  fractions,
  group,
  integer,
  json,
  list,
  magnitude,
  number,
  reference,
  text,
  timestamp,
} from 'halgraph/domain'

export const animals = defineResource({
  kind: 'collection',
  name: 'Animal',
  path: 'animals',
  description: 'An animal, with a field of each kind.',
  searchIndex: true,
  fields: {
    owner: text('Subject of the owner.', { index: 'filter' }),
    name: text('Name.', { required: true, index: 'sort' }),
    chip: text('Number of the chip, unique.', { unique: true }),
    nickname: text('Nickname; a filter on it also finds the chip.', { alsoMatches: 'chip' }),
    story: text('Story.', { maximumLength: 5_000 }),
    species: enumeration(['cat', 'dog', 'owl'], 'Species.', { index: 'filter' }),
    weight: number('Weight, in kilograms.', { index: 'sort' }),
    legs: integer('Legs.', { minimum: 0 }),
    price: decimal(8, 2, 'Price, in euros.', { minimum: 0 }),
    tame: boolean('Whether it is tame.'),
    born_date: timestamp('When it was born.'),
    adopted_date: date('Day of the adoption.', { index: 'sort' }),
    tags: list(text('A tag.', { maximumLength: 40 }), 'Tags.', { index: 'filter' }),
    lucky_numbers: list(integer('A number.'), 'Numbers.'),
    diet: fractions('Fraction of the food by kind.'),
    notes: json('Remarks of any form.'),
    size: group('Size.', { height: magnitude('Height.'), width: magnitude('Width.') }),
    paws: computed('legs * 2', integer('Twice the legs.')),
    keeper_id: reference('keepers', 'keeper', 'Identifier of the keeper.', { nested: true }),
    mother_id: reference('animals', 'mother', 'Identifier of the mother.'),
  },
})

export const visits = defineResource({
  kind: 'owned',
  owner: animals,
  name: 'Visit',
  path: 'visits',
  description: 'A visit of an animal.',
  fields: {
    reason: text('Reason.', { required: true }),
    owner: text('Subject of the owner.'),
    day: date('Day.'),
    cost: decimal(8, 2, 'Cost, in euros.'),
    paid: boolean('Whether it is paid.', { initially: false }),
    keeper_id: reference('keepers', 'keeper', 'Identifier of the keeper.'),
  },
})

export const passport = defineResource({
  kind: 'singleton',
  owner: animals,
  name: 'Passport',
  path: 'passport',
  description: 'The passport of an animal.',
  fields: {
    number: text('Number.', { unique: true }),
    issuer: enumeration(['city', 'state'], 'Issuer.'),
    valid_date: date('Last day of its validity.'),
  },
})

export const weighings = defineResource({
  kind: 'owned',
  owner: animals,
  name: 'Weighing',
  path: 'weighings',
  description: 'A weight of an animal at a time.',
  appendOnly: true,
  fields: {
    weight: number('Weight, in kilograms.', { required: true }),
    measured_date: timestamp('When it was measured.', { required: true }),
  },
})
