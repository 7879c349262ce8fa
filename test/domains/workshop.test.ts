import test from 'ava'
import type { Owner } from '../helpers/database/database.ts'
import { makeDomain, serveDomain } from '../helpers/domain/made-domain.ts'
import type { TestService } from '../helpers/service/service.ts'

// The engine serves definitions that neither the built-in domain nor the library has.

const releases: (() => Promise<void>)[] = []
const owner: Owner = { teardown: (release) => void releases.push(release) }
let service: TestService

test.serial.before('the workshop is made and served', async (t) => {
  t.timeout(600_000)
  service = await serveDomain(owner, await makeDomain(owner, 'workshop'))
})

test.after.always(async () => {
  for (const release of releases.reverse()) await release()
})

/** Numbers that double precision changes. */
const INEXACT = [
  '1e400',
  '-1e400',
  '1e-400',
  '12345678901234567890',
  '-9007199254740993',
  '9007199254740993.0',
  '0.1000000000000000055511151231257828',
  '0.30000000000000001',
  '2e-324',
  `1${'0'.repeat(30)}1`,
  `0.${'0'.repeat(400)}1`,
]

/** Each is the number that it writes, in more or fewer characters. */
const EXACT = [
  '0',
  '-0.0',
  '1.50',
  '0e99',
  '1E2',
  '0.10000000000000001',
  '0.1000000000000000055511151231257827',
  '2.2250738585072014e-308',
  '1.6043694729471257e-25',
  '4.9e-324',
  '9007199254740992',
  '1.7976931348623157e308',
  '-1.7976931348623157E+308',
  '123456789012345680000',
  `1${'0'.repeat(308)}`,
  `${'0.'.padEnd(300, '0')}1`,
]

/** Fields whose value, or a part of it, is a number; `N` stands for it. */
const FIELDS = {
  length: 'N',
  samples: '[1,N]',
  shares: '{"gas":N}',
  price: 'N',
  remarks: 'N',
  'remarks, inside': '{"a":[true,{"b":[0.5,N]}]}',
}

test.serial(
  'a number that would be stored as another one is refused, in any field and at any depth',
  async (t) => {
    const { writer } = service
    await writer.put('/measurements/one', { id: 'one', remarks: { kept: 1 } })
    const before = await writer.get('/measurements/one')
    for (const [name, text] of Object.entries(FIELDS)) {
      const field = name.split(',')[0] as string
      for (const number of INEXACT) {
        const value = text.replace('N', number)
        const body = `{"${field}":${value}}`
        const message = `${name}: ${number.slice(0, 50)}`
        const batch = `{"operations":[{"method":"PATCH","path":"/measurements/one","body":${body}}]}`
        for (const { status, body: sent } of [
          await writer.post('/measurements', body),
          await writer.put('/measurements/one', body),
          await writer.patch('/measurements/one', body),
          await writer.post('/batch', batch),
        ]) {
          t.deepEqual([status, sent.error?.code], [400, 'VALIDATION_FAILED'], message)
          t.regex(sent.error.details[0].field, new RegExp(`\\b${field}$`), message)
        }
        const variables = `{"query":"mutation ($patch: MeasurementPatch!) { patchMeasurement(id: \\"one\\", patch: $patch) { outcome } }","variables":{"patch":${body}}}`
        const literal = `mutation { patchMeasurement(id: "one", patch: { ${field}: ${value.replaceAll(/"(\w+)":/g, '$1:')} }) { outcome } }`
        for (const sent of [variables, JSON.stringify({ query: literal })]) {
          const { body: result } = await writer.post(new URL('/graphql', service.origin).href, sent)
          t.is(
            result.errors?.[0].extensions.code,
            'VALIDATION_FAILED',
            `${message} ${JSON.stringify(result)}`,
          )
        }
      }
    }
    t.is((await writer.get('/measurements/one')).headers.get('etag'), before.headers.get('etag'))
  },
)

test.serial(
  'the database refuses JSON with numbers beyond double precision, whoever writes them',
  async (t) => {
    const { pool } = service.database
    for (const json of ['1e309', '{"a": [true, {"b": -1e400}]}']) {
      const error = await t.throwsAsync(pool.query('UPDATE measurements SET remarks = $1', [json]))
      t.is((error as { code?: string }).code, '23514', json)
    }
  },
)

test.serial('a number that double precision keeps is stored exactly', async (t) => {
  const { writer } = service
  for (const [name, text] of Object.entries(FIELDS)) {
    const field = name.split(',')[0] as string
    for (const number of EXACT) {
      if (field === 'price' || (field === 'shares' && number.startsWith('-1'))) continue
      const value = text.replace('N', number)
      for (const method of ['PUT', 'PATCH']) {
        const { status, text: problem } = await writer.request(
          method,
          '/measurements/one',
          `{"${field}":${value}}`,
        )
        t.is(status, 204, `${name} ${number}: ${problem}`)
        const stored = (await writer.get('/measurements/one')).body[field]
        t.deepEqual(stored, JSON.parse(value.replace('-0.0', '0')), `${name} ${number}`)
      }
    }
  }
})
