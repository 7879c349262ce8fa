import { type Domain, date, defineResource, enumeration, integer, text } from 'halgraph/domain'

/* The definition that README.md shows with a picture of its list. */

export const books = defineResource({
  kind: 'collection',
  name: 'Book',
  path: 'books',
  description: 'A book on the shelf.',
  fields: {
    title: text('Title.', { required: true, index: 'sort' }),
    genre: enumeration(['novel', 'poetry', 'science'], 'Genre.'),
    pages: integer('Number of pages.', { minimum: 1 }),
    published_date: date('Day of publication.'),
  },
})

export const domain: Domain = { title: 'Bookshelf', description: 'Books.', resources: [books] }
