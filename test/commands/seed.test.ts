import test from 'ava'
import { createSeeds } from '../../src/commands/seed/create-seeds.ts'
import { type SeedFile, seedLines, seedProblems } from '../../src/commands/seed/seed-problems.ts'
import { operatorSessions } from '../../src/commands/shared-database.ts'
import type { Seed } from '../../src/documents/openapi/seeds.ts'
import { DomainError } from '../../src/model/errors.ts'
import { domain } from '../helpers/domain/domain.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

const { resources } = domain

const settings = { ruleSettings: { planetReference: 'stub' }, idempotencyKeyHours: 1, maximumPageSize: 100 }

const create = (seeds: readonly Seed[], file?: SeedFile, client = service().database.client) =>
  createSeeds(seeds, resources, operatorSessions({ settings, domain }, { client })(), file)

test('an entry names its parent as parent or as REST does, and is created once', async (t) => {
  const seeds = [
    { collection: 'planets', id: 'sown', name: 'Sown' },
    { collection: 'moons', parent: 'sown', id: 'one', name: 'One' },
    { collection: 'moons', planet_id: 'sown', id: 'two', name: 'Two' },
    { collection: 'moons', planet_id: 'sown', parent: 'sown', id: 'three', name: 'Three' },
    { collection: 'atmosphere', planet_id: 'sown', composition: { argon: 0.5 } },
  ]
  t.deepEqual(seedProblems(seeds, resources), [])
  t.is(await create(seeds), 5)
  t.is(await create(seeds), 0)
  const { reader } = service()
  t.deepEqual(
    (await reader.get('/planets/sown/moons?sort=id:asc')).body._embedded.moons.map(
      (moon: { id: string }) => moon.id,
    ),
    ['one', 'three', 'two'],
  )
  t.deepEqual((await reader.get('/planets/sown/atmosphere')).body.composition, { argon: 0.5 })
})

test('every problem of a catalogue is a line with its entry and its field', (t) => {
  const seeds = [
    'planets',
    { collection: 'stars', id: 'sun' },
    { collection: 'planets', name: 'Without' },
    { collection: 'planets', id: 'a b', name: 3 },
    { collection: 'planets', id: 'same', name: 'Same' },
    { collection: 'planets', id: 'same', name: 'Other' },
    { collection: 'moons', id: 'lost', name: 'Lost' },
    { collection: 'moons', id: 'torn', parent: 'a', planet_id: 'b', name: 'Torn' },
    { collection: 'atmosphere', id: 'x', parent: 'same', composition: 'argon' },
    { collection: 'missions', parent: 'same', id: 'm', name: 'M' },
  ]
  const collections = resources.map(({ path }) => path).join(', ')
  const idNeeded = 'it needs an id, of 1 to 64 letters, digits, and . _ ~ -'
  const found = seedProblems(seeds, resources)
  t.regex(found.pop() ?? '', /^entry 10 \(missions\/m\): parent is not a field/)
  t.deepEqual(found, [
    `entry 1: it must be an object whose collection is one of ${collections}`,
    `entry 2: it must be an object whose collection is one of ${collections}`,
    `entry 3 (planets): ${idNeeded}`,
    `entry 4 (planets/a b): ${idNeeded}`,
    'entry 4 (planets/a b): name must be a string.',
    'entry 6 (planets/same): an entry before it has the same id',
    'entry 7 (moons/lost): planet_id must be the id of its parent',
    'entry 8 (moons/torn): parent and planet_id are different',
    'entry 9 (atmosphere/x): its id must be that of its parent',
    'entry 9 (atmosphere/x): composition must be an object that maps names to fractions.',
  ])
})

test('a catalogue with an entry that a rule refuses creates none, and says which it is', async (t) => {
  const seeds = [
    { collection: 'planets', id: 'unsown', name: 'Unsown' },
    { collection: 'moons', parent: 'elsewhere', id: 'one', name: 'One' },
  ]
  t.deepEqual(seedProblems(seeds, resources), [])
  const { message } = (await t.throwsAsync(create(seeds))) as Error
  t.regex(message, /^No entry was created\. entry 2 \(moons\/one\): /)
  t.is((await service().reader.get('/planets/unsown')).status, 404)
  const taken = [
    { collection: 'planets', id: 'first', name: 'Taken' },
    { collection: 'planets', id: 'second', name: 'TAKEN' },
  ]
  t.regex(((await t.throwsAsync(create(taken))) as Error).message, /entry 2 \(planets\/second\): /)
  t.is((await service().reader.get('/planets/first')).status, 404)
})

test('a long catalogue is created in parts, which are repeated while the database does not respond', async (t) => {
  const seeds: Seed[] = Array.from({ length: 250 }, (_, index) => ({
    collection: 'planets',
    id: `long-${index}`,
    name: `Long ${index}`,
  }))
  const torn = seeds.with(230, { collection: 'moons', parent: 'elsewhere', id: 'm', name: 'M' })
  await t.throwsAsync(create(torn), {
    message: /^The first 200 entries are there\. entry 231 \(moons\/m\): .* Run the same command again/,
  })
  const { client } = service().database
  let failures = 2
  const failing = new Proxy(client, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (name === 'transaction' && failures > 0 && failures--)
        throw new DomainError('SERVICE_UNAVAILABLE', 'The database is not responding; try again.')
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  t.is(await create(seeds, undefined, failing), 50)
  t.is(failures, 0)
  t.is(await create(seeds), 0)
})

test('a problem of a catalogue, or of a rule, is at the line of its file', async (t) => {
  const text = `[
  { "collection": "planets", "id": "lined", "name": "Lined" },
  {
    "collection": "species", "id": "torn",
    "scientific_name": "Torn",
    "temperature_range": {
      "min_celsius": "cold"
    }
  },
  { "collection": "moons",
    "planet_id": "missing planet", "id": "m", "name": "M" },
  3
]`
  const file = { name: 'catalogue.json', lineOf: seedLines(text) }
  const found = seedProblems(JSON.parse(text), resources, file)
  t.is(found[0], 'catalogue.json:7: entry 2 (species/torn): temperature_range.min_celsius must be a number.')
  t.is(found[1], 'catalogue.json:11: entry 3 (moons/m): planet_id must be the id of its parent')
  t.regex(found[2] ?? '', /^catalogue\.json:12: entry 4: it must be an object/)
  const refused = `[
  { "collection": "moons", "planet_id": "elsewhere",
    "id": "m", "name": "M" }
]`
  const creation = create(JSON.parse(refused), { ...file, lineOf: seedLines(refused) })
  t.regex(
    ((await t.throwsAsync(creation)) as Error).message,
    /created\. catalogue\.json:2: entry 1 \(moons\/m\): /,
  )
})
