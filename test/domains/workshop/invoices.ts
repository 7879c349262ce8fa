import {
  boolean,
  type Change,
  DomainError,
  date,
  defineResource,
  enumeration,
  integer,
  list,
  reference,
  refuseRuleViolation,
  text,
  timestamp,
} from 'halgraph/domain'

/** Refuses to delete what is locked. */
async function isUnlocked({ before, after }: Change): Promise<void> {
  if (after || !before?.['locked']) return
  const message = 'It is locked.'
  throw new DomainError('DEPENDENCY_CONFLICT', message, [{ field: 'id', code: 'RESOURCE_IN_USE', message }])
}

/** Refuses to delete a line of an invoice that was sent, as the invoice says, and not the line. */
async function isDraft({ client, key, after }: Change): Promise<void> {
  if (after) return
  const statement = { text: 'SELECT status FROM invoices WHERE id = $1', values: [key.parentId] }
  const [invoice] = await client.$rows<{ status: string }>(statement)
  const message = 'The invoice was sent.'
  if (invoice?.status === 'sent') refuseRuleViolation([{ field: 'id', code: 'INVOICE_SENT', message }])
}

const locked = boolean('Whether it must not be deleted.')

export const invoices = defineResource({
  kind: 'collection',
  name: 'Invoice',
  path: 'invoices',
  description: 'An invoice, whose rule is that of its lines.',
  fields: {
    status: enumeration(['draft', 'sent'], 'Status.', { initially: 'draft' }),
    note: text('A text that is too long for an index.', { maximumLength: 10_000, unique: true }),
  },
})

export const lines = defineResource({
  kind: 'owned',
  owner: invoices,
  name: 'Line',
  path: 'lines',
  description: 'A line of an invoice.',
  fields: { amount: integer('Amount.') },
  databaseRule: isDraft,
  detailCodes: { INVOICE_SENT: { cause: 'The invoice was sent.', remedy: 'Keep it.' } },
})

export const reminders = defineResource({
  kind: 'collection',
  name: 'Reminder',
  path: 'reminders',
  description: 'What refers to an invoice and to another reminder, and has no rule.',
  title: ({ day, due }) => (day ? `On ${day}, by ${due}` : ''),
  fields: {
    day: date('Day.'),
    due: timestamp('Latest time.'),
    pages: list(text('A page.', { format: 'uri' }), 'Pages.'),
    proof: text('A proof.', { format: 'uri' }),
    invoice_id: reference('invoices', 'invoice', 'Invoice.', { onDelete: 'cascade' }),
    former_id: reference('reminders', 'former', 'Former reminder.', { onDelete: 'cascade' }),
    text: integer('Text.'),
  },
})

export const replies = defineResource({
  kind: 'owned',
  owner: reminders,
  name: 'Reply',
  path: 'replies',
  description: 'What a reminder owns, with a rule.',
  title: ['day', 'due', 'locked', 'urgency'],
  fields: {
    locked,
    day: date('Day.'),
    due: timestamp('Latest time.'),
    urgency: enumeration(['low', 'high'], 'Urgency.', { labels: { high: 'Very high' } }),
  },
  databaseRule: isUnlocked,
})
