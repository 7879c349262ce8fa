import { decimal, defineResource, enumeration, reference, text, timestamp } from 'halgraph/domain'

export const bookings = defineResource({
  kind: 'collection',
  name: 'Booking',
  path: 'bookings',
  description: 'A treatment of a person, at a time.',
  title: ['starts_at', 'reason'],
  columns: ['starts_at', 'person_id', 'fee', 'status'],
  fields: {
    person_id: reference('people', 'person', 'The person who is treated.', {
      required: true,
      inverse: 'treatments',
      index: 'list',
    }),
    starts_at: timestamp('When it begins.', { required: true, index: 'sort' }),
    reason: text('Reason.', { maximumLength: 30 }),
    fee: decimal(6, 2, 'Fee, in euros.', { minimum: 0 }),
    status: enumeration(['planned', 'kept', 'missed'], 'Status.', {
      initially: 'planned',
      labels: { missed: 'Not kept' },
    }),
  },
  rules: [
    ({ status, fee }) =>
      status === 'kept' && fee === undefined
        ? [{ field: 'fee', code: 'FEE_MISSING', message: 'A booking that was kept has a fee.' }]
        : [],
  ],
  detailCodes: { FEE_MISSING: { cause: 'A booking was kept without a fee.', remedy: 'Send its fee.' } },
})
