import {
  boolean,
  date,
  defineResource,
  enumeration,
  group,
  integer,
  magnitude,
  reference,
  text,
} from 'halgraph/domain'

export const books = defineResource({
  kind: 'collection',
  name: 'Book',
  path: 'books',
  description: 'A book, of which the library can have several copies.',
  createdField: 'catalogued_date',
  fields: {
    title: text('Title.', { required: true, index: 'sort' }),
    isbn: text('International standard book number, unique.', { unique: true }),
    author_id: reference('authors', 'author', 'Identifier of the author.', { required: true, nested: true }),
    genre: enumeration(['novel', 'poetry', 'science', 'history'], 'Genre.', { index: 'filter' }),
    pages: integer('Number of pages.', { minimum: 1, maximum: 20_000 }),
    size: group('Size of the closed book.', {
      height_millimetres: magnitude('Height, in millimetres.'),
      width_millimetres: magnitude('Width, in millimetres.'),
    }),
    in_print: boolean('Whether it can still be bought.'),
    published_date: date('Date of publication.'),
  },
  example: {
    title: 'The Tide Tables',
    isbn: '978-0-00-000000-2',
    author_id: 'ama-lindqvist',
    genre: 'novel',
    pages: 312,
    size: { height_millimetres: 198, width_millimetres: 129 },
    in_print: true,
    published_date: '1994-03-01',
  },
})
