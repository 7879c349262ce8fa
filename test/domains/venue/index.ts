import {
  type ChangeOf,
  type Detail,
  type Domain,
  DomainError,
  date,
  decimal,
  defineResource,
  enumeration,
  integer,
  permittingDeletions,
  reference,
  refuseRuleViolation,
  text,
} from 'halgraph/domain'

/* Rooms that are booked and paid for. docs/guides/rules.md explains the rules. */

const roomFields = {
  name: text('Name.', { required: true, unique: true }),
  status: enumeration(['open', 'closed'], 'Whether it can be booked.', { initially: 'open' }),
}

/** Lets managers alone open and close rooms. */
const isManaged = permittingDeletions<typeof roomFields>(async ({ caller, before, after }) => {
  const isChanged = after.status !== (before?.status ?? 'open')
  if (isChanged && caller.claims['role'] !== 'manager')
    throw new DomainError('ACCESS_DENIED', 'Only a manager may open or close a room.')
})

export const rooms = defineResource({
  kind: 'collection',
  name: 'Room',
  path: 'rooms',
  description: 'A room for rent.',
  fields: roomFields,
  databaseRule: isManaged,
})

const MAXIMUM_PHOTOS = 3

/** Refuses a photo of a room that has the maximum. */
const hasSpace = permittingDeletions(async ({ client, key, before }) => {
  if (before) return
  await client.$rows({ text: 'SELECT id FROM rooms WHERE id = $1 FOR UPDATE', values: [key.parentId] })
  const count = 'SELECT count(*)::integer AS photos FROM photos WHERE room_id = $1'
  const [room] = await client.$rows<{ photos: number }>({ text: count, values: [key.parentId] })
  const message = `A room has at most ${MAXIMUM_PHOTOS} photos.`
  if (room && room.photos >= MAXIMUM_PHOTOS)
    refuseRuleViolation([{ field: 'room_id', code: 'TOO_MANY_PHOTOS', message }])
})

export const photos = defineResource({
  kind: 'owned',
  owner: rooms,
  name: 'Photo',
  path: 'photos',
  description: 'A photo of a room.',
  fields: { address: text('Address of the picture.', { required: true, format: 'uri' }) },
  databaseRule: hasSpace,
  detailCodes: {
    TOO_MANY_PHOTOS: { cause: 'The room has the maximum of photos.', remedy: 'Delete a photo first.' },
  },
})

const bookingFields = {
  room_id: reference('rooms', 'room', 'Identifier of the room.', { required: true, nested: true }),
  first_day: date('First day.', { required: true, index: 'sort' }),
  last_day: date('Last day.', { required: true }),
  total: decimal(12, 2, 'Sum of the extras, in euros.', { readOnly: true, initially: '0.00' }),
  booked_by: text('Subject of who has booked.', {
    readOnly: true,
    index: 'list',
    initially: ({ subject }) => subject,
  }),
  booked_on: date('Day of the booking, in UTC.', {
    readOnly: true,
    initially: () => new Date().toISOString().slice(0, 10),
  }),
}

/** Refuses a booking for days on which the room has another one. */
const isFree = permittingDeletions<typeof bookingFields>(async ({ client, key, after }) => {
  const { room_id: room, first_day: first, last_day: last } = after
  await client.$rows({ text: 'SELECT id FROM rooms WHERE id = $1 FOR UPDATE', values: [room] })
  const overlapping = `SELECT id FROM bookings
    WHERE room_id = $1 AND id <> $2 AND first_day <= $4 AND last_day >= $3 LIMIT 1`
  const [other] = await client.$rows({ text: overlapping, values: [room, key.id, first, last] })
  const message = 'The room has another booking for one of these days.'
  if (other) refuseRuleViolation([{ field: 'first_day', code: 'ROOM_TAKEN', message }])
})

export const bookings = defineResource({
  kind: 'collection',
  name: 'Booking',
  path: 'bookings',
  description: 'A booking of a room.',
  fields: bookingFields,
  checks: [
    ({ first_day: first, last_day: last }): Detail[] => {
      if (!first || !last || first <= last) return []
      const message = 'last_day must not be before first_day.'
      return [{ field: 'last_day', code: 'INVALID_RANGE', message }]
    },
  ],
  databaseRule: isFree,
  detailCodes: {
    ROOM_TAKEN: {
      cause: 'Another booking of the room overlaps.',
      remedy: 'Choose other days or another room.',
    },
  },
})

const extraFields = {
  name: text('What is paid for.', { required: true }),
  price: decimal(12, 2, 'Price, in euros.', { required: true }),
}

/** Adds the change of an extra to the total of its booking. */
async function addsUp({ client, key, before, after }: ChangeOf<typeof extraFields>): Promise<void> {
  const text = 'UPDATE bookings SET total = total + $2::numeric - $3::numeric WHERE id = $1'
  await client.$rows({ text, values: [key.parentId, after?.price ?? 0, before?.price ?? 0] })
}

export const extras = defineResource({
  kind: 'owned',
  owner: bookings,
  name: 'Extra',
  path: 'extras',
  description: 'What is paid for besides the room.',
  fields: extraFields,
  databaseRule: addsUp,
})

const invoiceFields = {
  number: integer('Number, without gaps.', { readOnly: true, unique: true }),
  customer: text('Name of the customer.', { required: true }),
}

/** Gives a new invoice the next number, and keeps the others. */
async function takesNextNumber({ client, before, after }: ChangeOf<typeof invoiceFields>): Promise<void> {
  if (!after) {
    const message = 'An invoice has a number, so it cannot be deleted.'
    return refuseRuleViolation([{ field: 'number', code: 'INVOICE_NUMBERED', message }])
  }
  if (before) return
  await client.$rows({ text: "SELECT pg_advisory_xact_lock(hashtext('invoices.number'))", values: [] })
  const text = 'SELECT COALESCE(max(number), 0) + 1 AS next FROM invoices'
  const [row] = await client.$rows<{ next: number }>({ text, values: [] })
  after.number = row?.next ?? 1
}

export const invoices = defineResource({
  kind: 'collection',
  name: 'Invoice',
  path: 'invoices',
  description: 'An invoice.',
  fields: invoiceFields,
  databaseRule: takesNextNumber,
  detailCodes: {
    INVOICE_NUMBERED: {
      cause: 'A deleted invoice would leave a gap.',
      remedy: 'Write another invoice that cancels it.',
    },
  },
})

export const domain: Domain = {
  title: 'Venue',
  description: 'Rooms, their bookings, and invoices.',
  resources: [rooms, photos, bookings, extras, invoices],
}
