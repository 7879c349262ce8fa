import { defineResource, enumeration, magnitude, text, timestamp } from 'halgraph/domain'
import { books } from './books.ts'
import { isNotLent } from './lending-rules.ts'

export const copies = defineResource({
  kind: 'owned',
  owner: books,
  name: 'Copy',
  path: 'copies',
  description: 'A copy of a book.',
  fields: {
    shelf: text('Where the copy stands, unique among the copies of a book.', {
      required: true,
      unique: { within: 'book_id' },
    }),
    condition: enumeration(['good', 'worn', 'damaged'], 'Condition.', { initially: 'good' }),
    acquired_date: timestamp('Date of the purchase.'),
    price_euros: magnitude('Price, in euros.'),
  },
  example: { shelf: 'B 12', condition: 'good', price_euros: 12.5 },
  databaseRule: isNotLent,
})
