import {
  date,
  defineResource,
  enumeration,
  integer,
  number,
  reference,
  text,
  timestamp,
} from 'halgraph/domain'

export const keepers = defineResource({
  kind: 'collection',
  name: 'Keeper',
  path: 'keepers',
  description: 'A keeper of animals.',
  fields: {
    name: text('Name.', { required: true, unique: true }),
    region: enumeration(['north', 'south'], 'Region.', { index: 'filter' }),
    rating: integer('Rating.'),
  },
})

export const stays = defineResource({
  kind: 'owned',
  owner: keepers,
  name: 'Stay',
  path: 'stays',
  description: 'The stay of an animal with a keeper.',
  fields: {
    animal_id: reference('animals', 'animal', 'Identifier of the animal.'),
    owner: text('Subject of the owner.'),
    from_date: date('First day.'),
    nights: integer('Nights.', { minimum: 0 }),
  },
})

export const treatments = defineResource({
  kind: 'collection',
  name: 'Treatment',
  path: 'treatments',
  description: 'A treatment of an animal, which is a resource of its own.',
  searchIndex: true,
  fields: {
    animal_id: reference('animals', 'animal', 'Identifier of the animal.', { required: true, nested: true }),
    keeper_id: reference('keepers', 'keeper', 'Identifier of the keeper.', { onDelete: 'set null' }),
    owner: text('Subject of the owner.', { index: 'filter' }),
    drug: text('Drug.', { required: true, index: 'sort' }),
    dose_milligrams: number('Dose, in milligrams.', { minimum: 0 }),
    given_date: timestamp('When it was given.', { index: 'sort' }),
    status: enumeration(['planned', 'given', 'refused'], 'Status.', { initially: 'planned' }),
  },
})
