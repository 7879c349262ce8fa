import {
  type Detail,
  defineResource,
  enumeration,
  reference,
  text,
  timestamp,
  type Values,
} from 'halgraph/domain'
import { hasFreeCopy, lendingCodes } from './lending-rules.ts'

/** The transitions from each status. */
const TRANSITIONS: Readonly<Record<string, readonly string[]>> = {
  requested: ['open', 'cancelled'],
  open: ['returned', 'lost'],
  returned: [],
  lost: [],
  cancelled: [],
}

export const loans = defineResource({
  kind: 'collection',
  name: 'Loan',
  path: 'loans',
  description: 'The loan of a copy of a book.',
  randomIdentifiers: true,
  fields: {
    book_id: reference('books', 'book', 'Identifier of the book.', { required: true, nested: true }),
    borrower: text('Name of the borrower.', { required: true }),
    status: enumeration(Object.keys(TRANSITIONS), 'Status. A new loan is requested.', {
      initially: 'requested',
    }),
    due_date: timestamp('When the copy must be back.'),
  },
  example: { book_id: 'tide-tables', borrower: 'Ilse Moreau', due_date: '2031-05-01T00:00:00.000Z' },
  rules: [allowedTransition],
  databaseRule: hasFreeCopy,
  detailCodes: {
    ...lendingCodes,
    INVALID_STATUS_TRANSITION: {
      cause: 'The status cannot change from its current value to this one.',
      remedy: 'Use one of the transitions that the message lists.',
    },
  },
})

function allowedTransition(values: Values, before: Values | undefined): Detail[] {
  const status = values['status'] as string
  const from = before?.['status'] as string | undefined
  const allowed = from === undefined ? ['requested'] : [from, ...(TRANSITIONS[from] ?? [])]
  if (allowed.includes(status)) return []
  const message = `A loan that is ${from ?? 'new'} can only be ${allowed.join(' or ')}, not ${status}.`
  return [{ field: 'status', code: 'INVALID_STATUS_TRANSITION', message }]
}
