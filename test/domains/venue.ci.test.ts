import test from 'ava'
import type { Owner } from '../helpers/database/database.ts'
import { findServer } from '../helpers/database/postgres-server.ts'
import { makeDomain, serveDomain } from '../helpers/domain/made-domain.ts'
import type { Answer, Json } from '../helpers/service/client.ts'
import type { TestService } from '../helpers/service/service.ts'

// The recipes of docs/guides/rules.md. The embedded database runs one transaction at a time, so only a server can show
// what happens to requests that arrive together.

const server = findServer((reason) => console.log(`rules on PostgreSQL: ${reason}`))
const releases: (() => Promise<void>)[] = []
const owner: Owner = { teardown: (release) => void releases.push(release) }
let service: TestService

test.serial.before('the venue is made and served', async (t) => {
  t.timeout(600_000)
  service = await serveDomain(owner, await makeDomain(owner, 'venue'), { databasePoolSize: 8 }, server)
})

test.after.always(async () => {
  for (const release of releases.reverse()) await release()
})

/** Creates a resource; resolves to its identifier. */
async function create(path: string, body: object): Promise<string> {
  const { status, body: created, text } = await service.writer.post(path, body)
  if (status !== 201) throw new Error(`${path}: ${status} ${text}`)
  return created.id
}

function together<One>(count: number, send: (index: number) => Promise<One>): Promise<One[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => send(index)))
}

/** Each outcome with how often it occurred: the status, and the code of the first problem. */
function outcomes(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, body } of answers) {
    const outcome = [status, body?.error?.details[0]?.code].filter(Boolean).join(' ')
    counts[outcome] = (counts[outcome] ?? 0) + 1
  }
  return counts
}

const days = (first_day: string, last_day: string) => ({ first_day, last_day })

test.serial('only a manager may set the status of a room, at its creation and later', async (t) => {
  const [ada, manager] = [
    service.withSubject('ada'),
    service.withScope('*:read *:write', 'mia', { role: 'manager' }),
  ]
  const id = await create('/rooms', { name: 'Cellar' })
  t.is((await ada.patch(`/rooms/${id}`, { name: 'Cellar bar' })).status, 204)
  const refused = await ada.patch(`/rooms/${id}`, { status: 'closed' })
  t.deepEqual([refused.status, refused.body.error.code], [403, 'ACCESS_DENIED'])
  t.is((await ada.post('/rooms', { name: 'Bunker', status: 'closed' })).status, 403)
  t.is((await manager.patch(`/rooms/${id}`, { status: 'closed' })).status, 204)
})

test.serial('a booking says who has booked it and when, and callers cannot set either', async (t) => {
  const room_id = await create('/rooms', { name: 'Attic' })
  const ada = service.withSubject('ada')
  const today = () => new Date().toISOString().slice(0, 10)
  const sent = { room_id, ...days('2031-06-01', '2031-06-02') }
  const possible = [today()]
  const { body } = await ada.post('/bookings', { ...sent, booked_by: 'grace', booked_on: '1999-01-01' })
  possible.push(today())
  t.is(body.booked_by, 'ada')
  t.true(possible.includes(body.booked_on), body.booked_on)
  t.is((await ada.patch(`/bookings/${body.id}`, { booked_by: 'grace' })).status, 400)
  t.is((await ada.patch(`/bookings/${body.id}`, { booked_on: '1999-01-01' })).status, 400)
})

test.serial('a booking overlaps no other one of its room', async (t) => {
  const { writer } = service
  const [cellar, hall] = [
    await create('/rooms', { name: 'Cellar' }),
    await create('/rooms', { name: 'Hall' }),
  ]
  const book = (room_id: string, first: string, last: string) =>
    writer.post('/bookings', { room_id, ...days(first, last) })
  const { body: booked } = await book(cellar, '2031-06-10', '2031-06-12')
  for (const [first, last] of [
    ['2031-06-10', '2031-06-12'],
    ['2031-06-12', '2031-06-12'],
    ['2031-06-08', '2031-06-10'],
    ['2031-06-11', '2031-06-11'],
    ['2031-06-01', '2031-06-30'],
  ] as const)
    t.deepEqual(outcomes([await book(cellar, first, last)]), { '422 ROOM_TAKEN': 1 }, `${first} ${last}`)
  t.deepEqual(outcomes([await book(cellar, '2031-06-13', '2031-06-12')]), { '400 INVALID_RANGE': 1 })
  t.is((await book(cellar, '2031-06-09', '2031-06-09')).status, 201)
  t.is((await book(cellar, '2031-06-13', '2031-06-14')).status, 201)
  const { body: other } = await book(hall, '2031-06-10', '2031-06-12')
  t.is((await writer.patch(`/bookings/${booked.id}`, { last_day: '2031-06-11' })).status, 204)
  t.is((await writer.patch(`/bookings/${other.id}`, { room_id: cellar })).status, 422)
  t.is((await writer.delete(`/bookings/${booked.id}`)).status, 204)
  t.is((await writer.patch(`/bookings/${other.id}`, { room_id: cellar })).status, 204)
})

test.serial('of overlapping bookings that arrive together, one is created', async (t) => {
  for (const name of ['Library', 'Kitchen', 'Garden', 'Studio']) {
    const room_id = await create('/rooms', { name })
    const answers = await together(6, (index) =>
      service.writer.post('/bookings', { room_id, ...days(`2031-07-0${index + 1}`, '2031-07-09') }),
    )
    t.deepEqual(outcomes(answers), { '201': 1, '422 ROOM_TAKEN': 5 }, name)
  }
})

test.serial('a room has at most three photos, although more arrive together', async (t) => {
  const { writer, reader } = service
  const path = `/rooms/${await create('/rooms', { name: 'Balcony' })}/photos`
  const add = (index: number) => writer.post(path, { address: `https://pictures.example.org/${index}` })
  const answers = await together(8, add)
  t.deepEqual(outcomes(answers), { '201': 3, '422 TOO_MANY_PHOTOS': 5 })
  const [{ id }] = answers.flatMap(({ status, body }): Json[] => (status === 201 ? [body] : []))
  t.is((await writer.patch(`${path}/${id}`, { address: 'https://pictures.example.org/new' })).status, 204)
  t.is((await writer.delete(`${path}/${id}`)).status, 204)
  t.is((await add(9)).status, 201)
  t.is((await add(10)).status, 422)
  t.is((await reader.get(path)).body.total_count, 3)
})

test.serial(
  'invoices that arrive together, some of which are refused, have numbers without gaps',
  async (t) => {
    const { writer, reader } = service
    const post = { method: 'POST', path: '/invoices', body: { customer: 'Noor Haddad', number: 1_000 } }
    const refused = {
      method: 'POST',
      path: '/bookings',
      body: { room_id: 'none', ...days('2031-06-01', '2031-06-01') },
    }
    const answers = await together(24, (index) =>
      index % 3 === 0
        ? writer.post('/batch', { operations: [post, post, refused] })
        : index % 3 === 1
          ? writer.post('/batch', { operations: [post, post] })
          : writer.post('/invoices', post.body, index % 2 === 0 ? { Prefer: 'tx=rollback' } : {}),
    )
    t.deepEqual(outcomes(answers), { '200': 8, '201': 8, '422 UNKNOWN_REFERENCE': 8 })
    const { body } = await reader.get('/invoices?limit=100&sort=number:asc')
    const numbers = body._embedded.invoices.map(({ number }: Json) => number)
    t.deepEqual(
      numbers,
      Array.from({ length: 2 * 8 + 4 }, (_, index) => index + 1),
    )
    const { id } = body._embedded.invoices[0]
    t.is((await writer.patch(`/invoices/${id}`, { number: 5 })).status, 400)
    t.deepEqual(outcomes([await writer.delete(`/invoices/${id}`)]), { '422 INVOICE_NUMBERED': 1 })
  },
)

test.serial('a booking has the total of its extras, although they change together', async (t) => {
  const { writer, reader } = service
  const room_id = await create('/rooms', { name: 'Tower' })
  const sent = { room_id, ...days('2031-06-01', '2031-06-02'), total: '99.00' }
  const path = `/bookings/${await create('/bookings', sent)}`
  const total = async () => (await reader.get(path)).body.total
  t.is(await total(), '0.00')
  const prices = ['0.10', '0.20', '100.00', '-0.05', '19.99', '7.01']
  const added = await together(prices.length, (index) =>
    writer.post(`${path}/extras`, { name: 'Breakfast', price: prices[index] }),
  )
  t.deepEqual(outcomes(added), { '201': prices.length })
  t.is(await total(), '127.25')
  const before = (await reader.get(path)).headers.get('etag')
  await together(prices.length, (index) => {
    const extra = `${path}/extras/${added[index]?.body.id}`
    return index % 2 === 0 ? writer.patch(extra, { price: '1.00' }) : writer.delete(extra)
  })
  t.is(await total(), '3.00')
  t.not((await reader.get(path)).headers.get('etag'), before)
  t.is((await writer.patch(path, { total: '0.00' })).status, 400)
})

test.serial('a booking is deleted with its extras, whose rule changes it meanwhile', async (t) => {
  const { writer, reader } = service
  const room_id = await create('/rooms', { name: 'Chapel' })
  for (const isConditional of [false, true]) {
    const path = `/bookings/${await create('/bookings', { room_id, ...days('2031-06-01', '2031-06-02') })}`
    for (const price of ['1.00', '2.00']) await create(`${path}/extras`, { name: 'Breakfast', price })
    const etag = (await reader.get(path)).headers.get('etag') ?? ''
    if (isConditional) {
      t.is((await writer.patch(path, { last_day: '2031-06-03' })).status, 204)
      t.is((await writer.delete(path, { 'If-Match': etag })).status, 409)
    }
    const current = (await reader.get(path)).headers.get('etag') ?? ''
    t.is((await writer.delete(path, isConditional ? { 'If-Match': current } : {})).status, 204)
    t.is((await reader.get(path)).status, 410)
    t.is((await reader.get(`${path}/extras`)).status, 410)
  }
})
