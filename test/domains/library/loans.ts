import { type AccessRule, defineResource, enumeration, reference, text, timestamp } from 'halgraph/domain'
import { hasFreeCopy, lendingCodes } from './lending-rules.ts'

export const fields = {
  book_id: reference('books', 'book', 'Identifier of the book.', { required: true, nested: true }),
  borrower: text('Name of the borrower.', { required: true }),
  status: enumeration(
    ['requested', 'open', 'returned', 'lost', 'cancelled'],
    'Status. A new loan is requested.',
    {
      initially: 'requested',
      transitions: {
        requested: ['open', 'cancelled'],
        open: ['returned', 'lost'],
        returned: [],
        lost: [],
        cancelled: [],
      },
    },
  ),
  due_date: timestamp('When the copy must be back.'),
  reader: text('Subject of who has asked for the loan.', {
    readOnly: true,
    index: 'list',
    initially: (caller) => caller.subject,
  }),
}

/** All loans for librarians, and for readers their own. */
const isOwn: AccessRule = ({ subject, claims }) =>
  claims['role'] === 'librarian' || { reader: { equals: subject } }

export const loans = defineResource({
  kind: 'collection',
  name: 'Loan',
  path: 'loans',
  description: 'The loan of a copy of a book.',
  randomIdentifiers: true,
  fields,
  example: { book_id: 'tide-tables', borrower: 'Ilse Moreau', due_date: '2031-05-01T00:00:00.000Z' },
  access: { read: isOwn, change: isOwn, delete: ({ claims }) => claims['role'] === 'librarian' },
  databaseRule: hasFreeCopy,
  detailCodes: lendingCodes,
})
