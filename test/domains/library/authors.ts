import { defineResource, integer, text } from 'halgraph/domain'

export const authors = defineResource({
  kind: 'collection',
  name: 'Author',
  path: 'authors',
  description: 'An author of books.',
  searchIndex: true,
  fields: {
    name: text('Name.', { required: true }),
    birth_year: integer('Year of birth.', { minimum: -3000, maximum: 3000 }),
    email: text('E-mail address.', { format: 'email' }),
    website: text('Address of the own pages.', { format: 'uri' }),
    biography: text('Life of the author.', { maximumLength: 10_000 }),
  },
  example: { name: 'Ama Lindqvist', birth_year: 1951, email: 'ama@example.com' },
})
