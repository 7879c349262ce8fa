import test from 'ava'
import { coerceInputValue, type GraphQLInputType } from 'graphql'
import { filterCondition } from '../../../src/database/sql/filter.ts'
import { exactColumns, exactRow, Parameters } from '../../../src/database/sql/statement.ts'
import * as fields from '../../../src/domain/definition.ts'
import { lowerCaseOf } from '../../../src/domain/lower-case.ts'
import { species } from '../../../src/domain/resources/species.ts'
import { readFeed } from '../../../src/features/history/feed/read-feed.ts'
import { toChange } from '../../../src/features/history/feed/recorded-change.ts'
import { filterFrom } from '../../../src/graph/schema/filters.ts'
import { unrestricted } from '../../../src/model/access/access.ts'
import { defineResource } from '../../../src/model/definition/define-resource.ts'
import { kindOf } from '../../../src/model/definition/fields.ts'
import { matcherOf } from '../../../src/model/query/matches.ts'
import type { Operator } from '../../../src/model/query/operators.ts'
import { type Filter, leafNamed } from '../../../src/model/query/query.ts'
import type { Columns } from '../../../src/model/rows/row.ts'
import { createCompleteSchema } from '../../../src/service/features.ts'
import { resources } from '../../helpers/domain/domain.ts'
import { fc, tries } from '../../helpers/process/run.ts'
import type { Json } from '../../helpers/service/client.ts'
import { shareTestService, startTestService } from '../../helpers/service/service.ts'
import { subscribe } from '../../helpers/service/subscribe.ts'

const service = shareTestService(test)

const RUNS = tries(120, 400)

/** Letters whose cases databases and JavaScript see differently, and characters with a meaning in patterns. */
const LETTERS = [
  'a',
  'A',
  'b',
  'ä',
  'Ä',
  'İ',
  'i',
  'Σ',
  'σ',
  'ς',
  'ẞ',
  'ß',
  'Ⓐ',
  'ⓐ',
  'Ᲊ',
  'ǅ',
  '𐐀',
  '🙂',
  '%',
  '_',
  '\\',
  ' ',
]
const text = fc.array(fc.constantFrom(...LETTERS), { maxLength: 3 }).map((letters) => letters.join(''))

const unset = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null, freq: 4 })

/** Any combination of conditions: GraphQL's members or the parts of the model. */
function combined(
  condition: fc.Arbitrary<Json>,
  and: (parts: Json[]) => Json,
  or: (parts: Json[]) => Json,
  not: (part: Json) => Json,
) {
  return fc.letrec<{ filter: Json }>((tie) => ({
    filter: fc.oneof(
      { maxDepth: 3 },
      { arbitrary: condition, weight: 3 },
      fc.array(tie('filter'), { maxLength: 3 }).map(and),
      fc.array(tie('filter'), { maxLength: 3 }).map(or),
      tie('filter').map(not),
    ),
  })).filter
}

const WORDS = { planetOrigin: fc.constantFrom('Ida', 'ida', 'Vega', 'vega'), habitat: text, commonName: text }

/** A condition on a species, as GraphQL has it. */
const graphCondition: fc.Arbitrary<Json> = fc.oneof(
  ...Object.entries(WORDS).map(([field, value]) =>
    fc
      .oneof(
        ...['equals', 'notEquals', 'contains', 'containsInsensitive', 'startsWith'].map((operator) =>
          value.map((operand) => ({ [operator]: operand })),
        ),
        fc.array(value, { maxLength: 3 }).map((values) => ({ in: values })),
        fc.boolean().map((isSet) => ({ isSet })),
      )
      .map((condition) => ({ [field]: condition })),
  ),
  fc
    .tuple(
      fc.constantFrom('equals', 'notEquals', 'gt', 'gte', 'lt', 'lte'),
      fc.constantFrom(-1.5, 0, 0.1, 1e300),
    )
    .map(([operator, value]) => ({ temperatureRange: { minCelsius: { [operator]: value } } })),
  fc.boolean().map((value) => ({ bioluminescent: { equals: value } })),
)

const speciesRow = fc.record({
  common_name: unset(text),
  habitat: unset(text),
  planet_origin: unset(WORDS.planetOrigin),
  bioluminescent: unset(fc.boolean()),
  min_celsius: unset(fc.constantFrom(-1.5, 0, 0.1)),
})

test.serial('a filter matches the changes of the species that the list has with it', async (t) => {
  const { writer, reader, database } = service()
  for (const [index, { min_celsius, ...values }] of fc
    .sample(speciesRow, { numRuns: 60, seed: 7 })
    .entries()) {
    const range = min_celsius === null ? {} : { temperature_range: { min_celsius } }
    const created = await writer.post('/species', {
      scientific_name: `Species ${index}`,
      ...values,
      ...range,
    })
    t.is(created.status, 201, created.text)
  }
  const type = createCompleteSchema(resources).getType('SpeciesFilter') as GraphQLInputType
  const source = { client: database.client, changesDays: 30 }
  const access = unrestricted('all changes are read')
  const { changes } = await readFeed(source, {
    resources: [species],
    access,
    since: undefined,
    limit: 100,
  })
  const lower = await lowerCaseOf(database.client)
  const filters = combined(
    graphCondition,
    (and) => ({ and }),
    (or) => ({ or }),
    (not) => ({ not }),
  )
  const query = 'query ($filter: SpeciesFilter) { speciesPage(filter: $filter, limit: 100) { items { id } } }'
  await fc.assert(
    fc.asyncProperty(filters, async (filter) => {
      const { data, text } = await reader.graphql(query, { filter })
      if (!data?.speciesPage) throw new Error(text)
      const condition = filterFrom(species, { filter: coerceInputValue(filter, type) as never }, resources)
      const matches = condition ? matcherOf(species, condition, lower) : () => true
      const found = changes.filter(({ row }) => matches(row as Columns))
      t.deepEqual(
        found.map(({ key }) => key.id).sort(),
        data.speciesPage.items.map(({ id }: Json) => id).sort(),
      )
    }),
    { numRuns: RUNS },
  )
})

const samples = defineResource({
  kind: 'collection',
  name: 'Sample',
  path: 'samples',
  description: 'One of each kind.',
  fields: {
    name: fields.text('Text.'),
    count: fields.integer('Integer.'),
    size: fields.number('Number.'),
    price: fields.decimal(30, 4, 'Decimal.'),
    is_new: fields.boolean('Boolean.'),
    made: fields.timestamp('Timestamp.'),
    day: fields.date('Date.'),
    state: fields.enumeration(['new', 'old'], 'Enumeration.'),
    maker: fields.reference('samples', 'maker', 'Reference.'),
    tags: fields.list(fields.text('Tag.'), 'Texts.'),
    sizes: fields.list(fields.number('Size.'), 'Numbers.'),
    prices: fields.list(fields.decimal(10, 2, 'Price.'), 'Decimals.'),
    days: fields.list(fields.date('Day.'), 'Dates.'),
    states: fields.list(fields.enumeration(['new', 'old'], 'State.'), 'Enumerations.'),
  },
})

const times = fc.constantFrom(0, 1, 999, 86_400_000).map((after) => new Date(Date.UTC(1031, 3, 5) + after))
const numbers = fc.constantFrom(-1.5, 0, 0.1, 1 / 3, 5e-324, 1e300)
const decimals = fc.constantFrom(
  '-0.5',
  '0',
  '0.0000',
  '0.5',
  '9',
  '10',
  '12345678901234567890.1234',
  '12345678901234567890.1235',
)
const VALUES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  name: text,
  count: fc.constantFrom(-5, 0, 2147483647),
  size: numbers,
  price: decimals,
  is_new: fc.boolean(),
  made: times,
  day: fc.constantFrom('0001-01-01', '2031-06-01', '9999-12-31').map((day) => new Date(`${day}T00:00:00Z`)),
  state: fc.constantFrom('new', 'old'),
  maker: fc.constantFrom('p', 'P', 'pq'),
  tags: text,
  sizes: numbers,
  prices: fc.constantFrom('0.50', '1.00'),
  days: fc.constantFrom('0001-01-01', '2031-06-01'),
  states: fc.constantFrom('new', 'old'),
}
const LISTS = ['tags', 'sizes', 'prices', 'days', 'states']

const modelCondition: fc.Arbitrary<Json> = fc.constantFrom(...Object.keys(VALUES)).chain((field) => {
  const value = VALUES[field] as fc.Arbitrary<unknown>
  const leaf = leafNamed(samples, field)
  return fc.constantFrom(...kindOf(leaf.field).operators).chain((operator: Operator) => {
    const operand =
      operator === 'in' ? fc.array(value, { maxLength: 3 }) : operator === 'isSet' ? fc.boolean() : value
    return operand.map((compared) => ({ field, operator, value: compared }))
  })
})

const modelFilter = combined(
  modelCondition,
  (all) => ({ all }),
  (any) => ({ any }),
  (not) => ({ not }),
) as fc.Arbitrary<Filter>

const sample = fc.record(
  Object.fromEntries(
    Object.entries(VALUES).map(([field, value]) => [
      field,
      unset(
        LISTS.includes(field)
          ? fc.array(value, { maxLength: 3 }).map((items) => JSON.stringify(items))
          : value,
      ),
    ]),
  ),
)

test.serial('values of every kind match as in a statement', async (t) => {
  const { client, pool } = service().database
  const columns = samples.leaves.filter(({ name }) => name in VALUES)
  const types = columns.map(({ column, field }) => {
    const kind = kindOf(field)
    return `"${column}" ${kind.columnType}${kind.columnParameters?.(field) ?? ''}`
  })
  await pool.query(`CREATE TABLE samples (id TEXT, ${types.join(', ')})`)
  for (const [index, values] of fc.sample(sample, { numRuns: 60, seed: 11 }).entries()) {
    const own = columns.map(({ column }) => values[column] ?? null)
    const names = columns.map(({ column }) => `"${column}"`)
    const places = own.map((_, place) => `$${place + 2}`)
    await pool.query(`INSERT INTO samples (id, ${names}) VALUES ($1, ${places})`, [`s${index}`, ...own])
  }
  const { rows } = await pool.query(
    `SELECT 1 AS position, 'samples' AS collection, '' AS parent_id, id, 1 AS version, 'created' AS event,
      ${exactRow('to_jsonb(samples)', '$1')} AS columns FROM samples`,
    [exactColumns(samples)],
  )
  const changes = rows.map((row) => toChange([samples], row))
  const lower = await lowerCaseOf(client)
  await fc.assert(
    fc.asyncProperty(modelFilter, async (filter) => {
      const parameters = new Parameters()
      const condition = filterCondition(samples, filter, parameters)
      const found = await client.$rows<{ id: string }>({
        text: `SELECT id FROM samples WHERE ${condition}`,
        values: parameters.values,
      })
      const matches = matcherOf(samples, filter, lower)
      t.deepEqual(
        changes
          .filter(({ row }) => matches(row as Columns))
          .map(({ key }) => key.id)
          .sort(),
        found.map(({ id }) => id).sort(),
      )
    }),
    { numRuns: 3 * RUNS },
  )
})

test.serial(
  'a subscription of one resource has the changes that match its filter, and all deletions',
  async (t) => {
    const { writer, reader, origin } = service()
    const query = `subscription ($filter: PlanetFilter) { planetChanged(filter: $filter) { id event version } }`
    const filter = { or: [{ habitable: { equals: true } }, { name: { containsInsensitive: 'VESTA' } }] }
    const own = await subscribe(origin, reader.authorization, query, { filter })
    const moons = await subscribe(
      origin,
      reader.authorization,
      'subscription { moonChanged(planetId: "v") { id event } }',
    )
    await writer.put('/planets/v', { id: 'v', name: 'Vesta' })
    await writer.put('/planets/w', { id: 'w', name: 'W', habitable: false })
    await writer.put('/planets/w/moons/other', { id: 'other', name: 'Other' })
    await writer.put('/planets/v/moons/luna', { id: 'luna', name: 'Luna' })
    await writer.patch('/planets/w', { habitable: true })
    await writer.patch('/planets/v', { name: 'Ceres' })
    await writer.delete('/planets/v')
    const told = (results: readonly Json[], field: string) =>
      results.map(({ data }) => `${data[field].event} ${data[field].id}`)
    t.deepEqual(told(await own.until(3), 'planetChanged'), ['CREATED v', 'CHANGED w', 'DELETED v'])
    t.deepEqual(told(await moons.until(2), 'moonChanged'), ['CREATED luna', 'DELETED luna'])
    for (const one of [own, moons]) one.leave()
  },
)

test.serial('words that end in Σ are the same to a subscription, a list and a unique name', async (t) => {
  const { writer, reader, origin, database } = service()
  const words = ['ΟΔΥΣΣΕΥΣ', 'οδυσσευσ', 'οδυσσευς', 'Οδυσσεύς ΝΑΥΣ Α']
  const query = 'subscription ($filter: SpeciesFilter) { speciesChanged(filter: $filter) { id } }'
  const listed = 'query ($filter: SpeciesFilter) { speciesPage(filter: $filter) { items { id } } }'
  const filters = ['ΣΕΥΣ', 'σευσ', 'σευς', 'Σ ', 'ΥΣ Α'].map((operand) => {
    return { habitat: { containsInsensitive: operand } }
  })
  const followed = await Promise.all(
    filters.map((filter) => subscribe(origin, reader.authorization, query, { filter })),
  )
  for (const [index, habitat] of words.entries())
    await writer.put(`/species/sigma-${index}`, {
      id: `sigma-${index}`,
      scientific_name: `Σ ${index}`,
      habitat,
    })
  // Matches every filter, so nothing of the others is still on its way.
  const last = { id: 'sigma-last', scientific_name: 'Σ', habitat: 'ΣΕΥΣ σευσ σευς Σ ΥΣ Α' }
  await writer.put('/species/sigma-last', last)
  for (const [index, filter] of filters.entries()) {
    const { data } = await reader.graphql(listed, { filter })
    const found: string[] = data.speciesPage.items.map(({ id }: Json) => id)
    t.true(found.length > 1, JSON.stringify(filter))
    const { until, leave } = followed[index] as Awaited<ReturnType<typeof subscribe>>
    const told = (await until(found.length)).map((result) => result.data.speciesChanged.id)
    t.deepEqual(told.toSorted(), found.toSorted(), JSON.stringify(filter))
    leave()
  }
  const [upper, ...lower] = words.slice(0, 3) as [string, string, string]
  t.is((await writer.post('/planets', { name: upper })).status, 201)
  for (const name of lower) {
    const [{ isEqual } = {}] = await database.client.$rows<{ isEqual: boolean }>({
      text: 'SELECT folded($1) = folded($2) AS "isEqual"',
      values: [upper, name],
    })
    const { status } = await writer.post('/planets', { name }, { prefer: 'tx=rollback' })
    t.is(status, isEqual ? 409 : 201, name)
  }
})

test.serial('what a filter of a subscription may not ask is refused', async (t) => {
  const { reader, origin, withScope } = service()
  for (const [client, field, filter, code] of [
    [reader, 'moonChanged', '{ planet: { habitable: { equals: true } } }', 'INVALID_QUERY_PARAMETER'],
    [reader, 'moonChanged', '{ name: { equals: null } }', 'VALIDATION_FAILED'],
    [reader, 'moonChanged', '{ name: { near: "x" } }', 'VALIDATION_FAILED'],
    [
      reader,
      'moonChanged',
      `{ or: [${'{ name: { equals: "x" } } '.repeat(101)}] }`,
      'INVALID_QUERY_PARAMETER',
    ],
    [withScope('planets:read'), 'moonChanged', '{}', 'ACCESS_DENIED'],
    [withScope('moons:read'), 'moonChanged', '{ planet: { id: { equals: "x" } } }', 'ACCESS_DENIED'],
  ] as const) {
    const query = `subscription { ${field}(filter: ${filter}) { id } }`
    const { results, ended } = await subscribe(origin, client.authorization, query)
    t.is(await ended, undefined)
    t.is(results[0].errors[0].extensions.code, code, filter)
  }
})

test.serial('a text is lowered once for all conditions of all subscriptions', async (t) => {
  const { writer, reader, origin } = service()
  const objective = 'The Quick Brown Fox '.repeat(400)
  const without = Array.from({ length: 20 }, (_, number) => ({
    objective: { containsInsensitive: `Not There ${number}` },
  }))
  const filter = { or: [...without, { objective: { containsInsensitive: 'FOX' } }] }
  const query = 'subscription ($filter: MissionFilter) { missionChanged(filter: $filter) { id } }'
  const subscriptions = await Promise.all(
    Array.from({ length: 15 }, () => subscribe(origin, reader.authorization, query, { filter })),
  )
  const { replace } = String.prototype
  let count = 0
  const counting = function (this: string, ...parameters: unknown[]) {
    if (this.length === objective.length && String(parameters[0]).includes('Lowercased')) count++
    return Reflect.apply(replace, this, parameters)
  }
  String.prototype.replace = counting as typeof replace
  t.teardown(() => {
    String.prototype.replace = replace
  })
  await writer.put('/missions/long', { id: 'long', name: 'Long', objective })
  for (const one of subscriptions) {
    t.deepEqual(await one.until(1), [{ data: { missionChanged: { id: 'long' } } }])
    one.leave()
  }
  t.is(count, 1)
})

test('the filter of a subscription counts towards its cost', async (t) => {
  const { origin, reader } = await startTestService(t, { graphqlMaxCost: 2 })
  const begin = (filter: string) =>
    subscribe(origin, reader.authorization, `subscription { planetChanged${filter} { id } }`)
  const plain = await begin('')
  t.deepEqual(plain.results, [])
  plain.leave()
  const refused = await begin('(filter: { name: { containsInsensitive: "x" } })')
  t.is(await refused.ended, undefined)
  const { code, details } = refused.results[0].errors[0].extensions
  t.deepEqual([code, details[0].code], ['VALIDATION_FAILED', 'LIMIT_EXCEEDED'])
})
