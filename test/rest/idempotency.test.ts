import { createHash, randomBytes } from 'node:crypto'
import test from 'ava'
import type { Database } from '../../src/database/database.ts'
import { Prisma } from '../../src/database/generated/client.ts'
import type { WriteContext } from '../../src/domain/context.ts'
import { defineResource, enumeration, text } from '../../src/domain/definition.ts'
import { idempotencyRecord } from '../../src/domain/idempotency.ts'
import type { Resource, Values } from '../../src/model/definition/resource.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

async function storedKeys({ pool }: Database, key: string): Promise<{ subject: string }[]> {
  return (await pool.query('SELECT subject FROM idempotency_keys WHERE key = $1', [key])).rows
}

const withKey = (key: string) => ({ 'idempotency-key': key })
let number = 0
const body = (more = {}) => ({
  scientific_name: `Species ${++number}`,
  planet_origin: `Origin ${number}`,
  ...more,
})

test('the same key and body are answered the same, and create once', async (t) => {
  const { writer } = service()
  const species = body({ temperature_range: { min_celsius: -3.5, max_celsius: 1e10 }, bioluminescent: false })
  const first = await writer.post('/species', species, withKey('"a-key-in-quotes"'))
  const reordered = Object.fromEntries(Object.entries(species).reverse())
  const again = await writer.post('/species', reordered, withKey('a-key-in-quotes'))
  t.is(first.status, 201)
  t.deepEqual([again.status, again.body], [201, first.body])
  for (const name of ['location', 'etag', 'last-modified'])
    t.is(again.headers.get(name), first.headers.get(name))
  const list = await writer.get(
    `/species?filter=scientific_name:${encodeURIComponent(species.scientific_name)}`,
  )
  t.is(list.body.total_count, 1)
})

test('a request with a key stores numbers with all their digits', async (t) => {
  const { writer } = service()
  const mission = (await writer.post('/missions', { name: 'Of many digits' })).body.id
  // Doubles that need 17 digits.
  for (const value of [0.30000000000000004, 12345678901234568, -12345678901234568, -1.2345678901234567e200]) {
    const data = { instrument: 'counter', recorded_at: '2031-03-30T00:30:00Z', quantity: 'x', value }
    const { body } = await writer.post(
      `/missions/${mission}/data`,
      data,
      withKey(`digits ${value}`.replace(' ', '-')),
    )
    t.is((await writer.get(`/missions/${mission}/data/${body.id}`)).body.value, value)
  }
})

test('the first response is repeated, also after the resource was changed or deleted', async (t) => {
  const { writer } = service()
  const species = body()
  const first = await writer.post('/species', species, withKey('changed-since'))
  await writer.patch(`/species/${first.body.id}`, { habitat: 'elsewhere' })
  t.deepEqual((await writer.post('/species', species, withKey('changed-since'))).body, first.body)
  await writer.delete(`/species/${first.body.id}`)
  t.deepEqual((await writer.post('/species', species, withKey('changed-since'))).body, first.body)
  t.is((await writer.get(`/species/${first.body.id}`)).status, 410)
})

test('the same key with another body is refused', async (t) => {
  const { writer } = service()
  await writer.post('/species', body(), withKey('reused'))
  const { status, body: error } = await writer.post('/species', body(), withKey('reused'))
  t.deepEqual([status, error.error.code], [422, 'BUSINESS_RULE_VIOLATION'])
  t.is(error.error.details[0].code, 'IDEMPOTENCY_KEY_REUSED')
})

test('the same body is known after fields were added, and where all fields were hashed', async (t) => {
  const define = (fields: Resource['fields']) =>
    defineResource({ kind: 'collection', name: 'Note', path: 'notes', description: 'N.', fields })
  const label = text('L.', { required: true })
  const added = { remark: text('R.'), state: enumeration(['open'], 'S.', { initially: 'open' }) }
  let stored: unknown
  const client = {
    $rows: async ({ values }: { values: readonly unknown[] }) => {
      stored ??= values[4]
      return [{ request_hash: stored, answer: {} }]
    },
  } as unknown as WriteContext['client']
  const context = { client, caller: { identity: 'me' }, idempotencyKeyHours: 1 } as WriteContext
  const record = (resource: Resource, values: Values) =>
    idempotencyRecord(context, resource, undefined, values, { key: 'key' })
  await record(define({ label }), { label: 'a' }).claim(client)
  t.truthy(await record(define({ label, ...added }), { label: 'a' }).find())
  await t.throwsAsync(record(define({ label, ...added }), { label: 'a', remark: 'b' }).find())
  stored = createHash('sha256').update('{"label":"a","remark":null,"state":"open"}').digest('base64')
  t.truthy(await record(define({ label, ...added }), { label: 'a' }).find())
})

test('a key belongs to a caller and a path', async (t) => {
  const { writer } = service()
  const { body: planet } = await writer.post('/planets', { name: 'Keyed' }, withKey('everywhere'))
  const { body: other } = await writer.post('/planets', { name: 'Keyed too' })
  const moon = { name: 'Moon' }
  const statuses = []
  for (const { id } of [planet, other]) {
    statuses.push((await writer.post(`/planets/${id}/moons`, moon, withKey('everywhere'))).status)
  }
  statuses.push(
    (await service().withSubject('else').post('/planets', { name: 'Third' }, withKey('everywhere'))).status,
  )
  t.deepEqual(statuses, [201, 201, 201])
})

test('a key of a caller without a subject belongs to the token', async (t) => {
  const { withScope, writer, database } = service()
  const planet = { name: 'Of one token' }
  const first = await writer.post('/planets', planet, withKey('no-subject'))
  t.is(first.status, 201)
  t.deepEqual((await writer.post('/planets', planet, withKey('no-subject'))).body, first.body)
  const other = withScope('planets:write')
  const another = await other.post('/planets', { name: 'Of another' }, withKey('no-subject'))
  t.is(another.status, 201)
  t.is((await other.post('/planets', planet, withKey('its-own'))).status, 409)
  t.is((await storedKeys(database, 'no-subject')).length, 2)
})

test('a key of a named caller is stored under the subject as it stands', async (t) => {
  const { withSubject, database } = service()
  const subject = 'https://id.example.org/users/Ada 1'
  await withSubject(subject).post('/planets', { name: 'Of a name' }, withKey('named'))
  t.deepEqual(await storedKeys(database, 'named'), [{ subject }])
})

test('a subject that the database cannot hold still has keys of its own', async (t) => {
  const { withSubject } = service()
  const long = randomBytes(3000).toString('base64')
  for (const subject of ['a\u0000b', 'a\ud800', 'a\ud801', long, `${long}x`]) {
    const client = withSubject(subject)
    const planet = { name: `Of a strange name ${++number}` }
    const first = await client.post('/planets', planet, withKey('strange'))
    t.is(first.status, 201)
    t.deepEqual((await client.post('/planets', planet, withKey('strange'))).body, first.body)
  }
})

test('of simultaneous requests with one key one creates, and all get the same response', async (t) => {
  const { writer } = service()
  const species = body()
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => writer.post('/species', species, withKey('at-once'))),
  )
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [201])
  t.is(new Set(answers.map(({ text }) => text)).size, 1)
})

test('a request that failed is not remembered', async (t) => {
  const { writer } = service()
  const species = body()
  const { body: taken } = await writer.post('/species', species)
  t.is((await writer.post('/species', species, withKey('failed-once'))).status, 409)
  await writer.delete(`/species/${taken.id}`)
  t.is((await writer.post('/species', species, withKey('failed-once'))).status, 201)
  t.is((await writer.post('/species', { habitat: 'x' }, withKey('invalid'))).status, 400)
  t.is((await writer.post('/species', body(), withKey('invalid'))).status, 201)
})

test('a key that cannot be one is a 400', async (t) => {
  for (const key of ['', 'a b', 'x'.repeat(256)]) {
    const { status, body: error } = await service().writer.post('/species', body(), withKey(key))
    t.deepEqual([status, error.error.details[0].field], [400, 'idempotency_key'], key)
  }
})

test('a key is forgotten after its time', async (t) => {
  const { writer, database } = service()
  const species = body()
  const { body: first } = await writer.post('/species', species, withKey('old'))
  await database.pool.query(
    "UPDATE idempotency_keys SET created_date = now() - interval '25 hours' WHERE key = 'old'",
  )
  await writer.delete(`/species/${first.id}`)
  const again = await writer.post('/species', species, withKey('old'))
  t.is(again.status, 201)
  t.not(again.body.id, first.id)
})

test('a GraphQL mutation takes a key too', async (t) => {
  const { writer } = service()
  const mutation = `mutation ($input: SpeciesInput!) {
    createSpecies(input: $input, idempotencyKey: "in-graphql") { outcome species { id lastUpdated } }
  }`
  const input = { scientificName: 'Of a mutation' }
  const first = await writer.graphql(mutation, { input })
  t.is(first.data.createSpecies.outcome, 'CREATED')
  t.deepEqual((await writer.graphql(mutation, { input })).data, first.data)
})

test('the key and the resource are stored together or not at all', async (t) => {
  const { writer, database, faults } = service()
  await database.client.prisma.$executeRaw(Prisma.sql`
    CREATE FUNCTION refuse_answer() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no such answer'; END $$`)
  await database.client.prisma.$executeRaw(Prisma.sql`
    CREATE TRIGGER refuse_answer BEFORE UPDATE ON idempotency_keys FOR EACH ROW
      WHEN (NEW.answer ->> 'habitat' = 'nowhere') EXECUTE FUNCTION refuse_answer()`)
  t.is((await writer.post('/species', body({ habitat: 'nowhere' }), withKey('half'))).status, 500)
  t.is(faults.splice(0).length, 1)
  t.is((await writer.get('/species?filter=habitat:nowhere')).body.total_count, 0)
  t.deepEqual(await storedKeys(database, 'half'), [])
})
