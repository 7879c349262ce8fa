import test from 'ava'
import { atmosphere } from '../../src/domain/resources/atmosphere.ts'
import { planets } from '../../src/domain/resources/planets.ts'
import { spacecraft } from '../../src/domain/resources/spacecraft.ts'
import { unrestricted } from '../../src/model/access/access.ts'
import type { Resource } from '../../src/model/definition/resource.ts'
import { createTestDatabase, openTestDatabase } from '../helpers/database/database.ts'
import { fc } from '../helpers/process/run.ts'

const EVERYTHING = unrestricted('all rows are compared')

const YEARS_1_TO_9999 = { min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z') }

const magnitudes = fc.oneof(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }), fc.maxSafeNat())

/** Columns with values of each kind that Prisma converts. */
const writes: readonly [Resource, fc.Arbitrary<Record<string, unknown>>][] = [
  [planets, fc.record({ mass_jupiters: magnitudes, name: fc.uuid() })],
  [spacecraft, fc.record({ launched_date: fc.date({ ...YEARS_1_TO_9999, noInvalidDate: true }) })],
  [atmosphere, fc.record({ composition: fc.option(fc.dictionary(fc.uuid(), fc.constant(1e-300))) })],
]

test('Prisma stores every double, timestamp and JSON value exactly', async (t) => {
  const { client, ...database } = await openTestDatabase(await createTestDatabase(t))
  t.teardown(() => database.close())
  await client.prisma.planet.create({ data: { id: 'x', name: 'X' } })
  await client.prisma.spacecraft.create({ data: { id: 'x', name: 'X', kind: 'capsule' } })
  await client.prisma.atmosphere.create({ data: { id: 'x', planet_id: 'x' } })
  for (const [resource, arbitrary] of writes) {
    const isStored = fc.asyncProperty(arbitrary, async (columns) => {
      const [row] = await client.updateManyAndReturn(resource, { id: 'x' }, columns)
      t.deepEqual({ ...row, ...columns }, row)
      t.deepEqual((await client.findMany(resource, { where: { id: 'x' } }, EVERYTHING))[0], row)
    })
    await fc.assert(isStored, { numRuns: 100 })
  }
})

test('rows that are added together are stored exactly', async (t) => {
  const { client, ...database } = await openTestDatabase(await createTestDatabase(t))
  t.teardown(() => database.close())
  await client.prisma.planet.create({ data: { id: 'x', name: 'X' } })
  const keys: Readonly<Record<string, object>> = {
    planets: { id: 'added' },
    spacecraft: { id: 'added', name: 'Added', kind: 'capsule' },
    atmosphere: { id: 'x', planet_id: 'x' },
  }
  for (const [resource, arbitrary] of writes) {
    const isStored = fc.asyncProperty(arbitrary, async (columns) => {
      const row = { ...keys[resource.path], ...columns }
      const writing = client.transaction(async (inside) => {
        const [added] = await inside.createAll(resource, [row])
        t.deepEqual(added, (await inside.findMany(resource, { where: { id: added?.id } }, EVERYTHING))[0])
        t.deepEqual({ ...added, ...row }, added)
        throw new RangeError()
      })
      await t.throwsAsync(writing, { instanceOf: RangeError })
    })
    await fc.assert(isStored, { numRuns: 100 })
  }
})

test('numbers of 17 digits beyond 2^53 do not overflow and are not rounded', async (t) => {
  const { client, ...database } = await openTestDatabase(await createTestDatabase(t))
  t.teardown(() => database.close())
  for (const mass_jupiters of [Number.MAX_VALUE, 1.2345678901234567e19, 2 ** 63, 2 ** 53 + 2]) {
    const data = {
      id: `${mass_jupiters}`.replace('+', ''),
      name: `${mass_jupiters}`,
      mass_jupiters,
    }
    t.is((await client.createAll(planets, [data]))[0]?.['mass_jupiters'], mass_jupiters)
  }
})
