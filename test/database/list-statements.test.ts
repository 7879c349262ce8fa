import test from 'ava'
import { aggregate } from '../../src/domain/read.ts'
import { moons } from '../../src/domain/resources/moons.ts'
import { planets } from '../../src/domain/resources/planets.ts'
import { unrestricted } from '../../src/model/access/access.ts'
import type { Resource } from '../../src/model/definition/resource.ts'
import { COMPARISONS, EQUALITIES, TEXT_DEFAULTS } from '../../src/model/kinds/kind.ts'
import { forMeasures } from '../../src/model/query/aggregate.ts'
import { decodeCursor, encodeCursor } from '../../src/model/query/keyset.ts'
import type { Operator } from '../../src/model/query/operators.ts'
import { type Filter, orderSteps, type Sort } from '../../src/model/query/query.ts'
import type { Row } from '../../src/model/rows/row.ts'
import { createTestDatabase, openTestDatabase, type TestDatabase } from '../helpers/database/database.ts'
import { fc, tries } from '../helpers/process/run.ts'

// Compares the statements of lists and aggregates with Prisma's own methods, and filters with their meaning in JavaScript.

type Where = Record<string, unknown>
type Model = { findMany(query: Where): Promise<Row[]>; count(query: Where): Promise<number> }

const RUNS = tries(45, 150)
const PLANETS = 40

const EVERYTHING = unrestricted('all rows are compared')
const ALL_PLANETS = EVERYTHING.rows(planets)

const TEXTS = ['', 'a', 'A', 'ab', 'b%', 'ä', '世', '_', '\\', 'x'.repeat(400), `${'x'.repeat(400)}y`]
const NUMBERS = [0, 0.1, 1.5, 1e300, 12345678.9]
const YEARS = [-5, 0, 1995, 2001]
const DATES = [0, 1, 999].map((milliseconds) => new Date(Date.UTC(2031, 3, 5) + milliseconds))

const value = (field: string) =>
  fc.constantFrom<unknown>(
    ...({ host_star: TEXTS, id: ['p1', 'p2', 'p30', 'none'], mass_jupiters: NUMBERS, discovery_year: YEARS }[
      field
    ] ?? (field === 'habitable' ? [true, false] : DATES)),
  )

const FIELDS: Readonly<Record<string, readonly Operator[]>> = {
  id: TEXT_DEFAULTS.operators,
  host_star: TEXT_DEFAULTS.operators,
  mass_jupiters: COMPARISONS,
  discovery_year: COMPARISONS,
  habitable: EQUALITIES,
  created_date: COMPARISONS,
}

const condition: fc.Arbitrary<Filter> = fc
  .constantFrom(
    ...Object.entries(FIELDS).flatMap(([field, operators]) =>
      operators.map((operator) => ({ field, operator })),
    ),
  )
  .chain(({ field, operator }) => {
    const several = fc.array(value(field), { maxLength: 3 })
    const values = operator === 'in' ? several : operator === 'isSet' ? fc.boolean() : value(field)
    return values.map((compared): Filter => ({ field, operator, value: compared }))
  })

const word: fc.Arbitrary<Filter> = fc
  .constantFrom(...TEXTS)
  .map((word): Filter => ({ fields: ['name', 'host_star'], word }))

const { filter } = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3 },
    condition,
    word,
    fc.array(tie('filter'), { maxLength: 3 }).map((all): Filter => ({ all })),
    fc.array(tie('filter'), { maxLength: 3 }).map((any): Filter => ({ any })),
    tie('filter').map((not): Filter => ({ not })),
  ),
}))

const sorts = fc.array(
  fc.record<Sort>({
    field: fc.constantFrom(...Object.keys(FIELDS)),
    direction: fc.constantFrom('asc', 'desc'),
  }),
  { maxLength: 3 },
)

// biome-ignore lint/suspicious/noExplicitAny: the values of a field have one type
const HOLDS: Record<Operator, (own: any, compared: any) => boolean> = {
  equals: (own, compared) => own === compared,
  notEquals: (own, compared) => own !== compared,
  in: (own, compared) => own !== null && compared.includes(own),
  isSet: (own, compared) => (own !== null) === compared,
  contains: (own, compared) => own?.includes(compared) ?? false,
  containsInsensitive: (own, compared) => own?.toLowerCase().includes(compared.toLowerCase()) ?? false,
  startsWith: (own, compared) => own?.startsWith(compared) ?? false,
  gt: (own, compared) => own !== null && own > compared,
  gte: (own, compared) => own !== null && own >= compared,
  lt: (own, compared) => own !== null && own < compared,
  lte: (own, compared) => own !== null && own <= compared,
}

/** JavaScript compares dates by identity. */
function plain(compared: unknown): unknown {
  if (Array.isArray(compared)) return compared.map(plain)
  return compared instanceof Date ? compared.getTime() : compared
}

function matches(row: Row, filtered: Filter): boolean {
  if ('all' in filtered) return filtered.all.every((part) => matches(row, part))
  if ('any' in filtered) return filtered.any.some((part) => matches(row, part))
  if ('not' in filtered) return !matches(row, filtered.not)
  if ('related' in filtered) {
    return planetRows.some((one) => one.id === row[filtered.column] && matches(one, filtered.related))
  }
  if ('word' in filtered) {
    return filtered.fields.some((field) => HOLDS.containsInsensitive(row[field], filtered.word))
  }
  return HOLDS[filtered.operator](plain(row[filtered.field]), plain(filtered.value))
}

/** Prisma's own conditions have three values: NOT does not find what is unset. */
function whereOf(rows: readonly Row[], filtered: Filter | undefined): Where {
  if (!filtered) return {}
  return { id: { in: rows.filter((row) => matches(row, filtered)).map(({ id }) => id) } }
}

function orderOf(resource: Resource, sorted: readonly Sort[]): Where[] {
  return orderSteps(resource, sorted).map(({ leaf, direction, nullable }) => ({
    [leaf.column]: nullable ? { sort: direction, nulls: 'last' } : direction,
  }))
}

const request = fc.record({
  filter: fc.option(filter, { nil: undefined }),
  sorts,
  skip: fc.nat({ max: 12 }),
  take: fc.integer({ min: 1, max: 15 }),
  after: fc.option(fc.nat({ max: PLANETS - 1 }), { nil: undefined }),
  before: fc.option(fc.nat({ max: PLANETS - 1 }), { nil: undefined }),
  fromEnd: fc.boolean(),
})

type Asked = typeof request extends fc.Arbitrary<infer Value> ? Value : never

let database: TestDatabase

/** The targets of relations. */
let planetRows: readonly Row[]

const releases: (() => Promise<void>)[] = []

test.after.always(async () => {
  await database?.close()
  for (const release of releases.reverse()) await release()
})

test.before(async () => {
  const owner = { teardown: (release: () => Promise<void>) => void releases.push(release) }
  database = await openTestDatabase(await createTestDatabase(owner))
  await database.client.prisma.planet.createMany({
    data: Array.from({ length: PLANETS }, (_, index) => ({
      id: `p${index}`,
      name: `Planet ${index}`,
      host_star: [null, ...TEXTS][index % (TEXTS.length + 1)] as string | null,
      mass_jupiters: [...NUMBERS, null][index % 6] as number | null,
      discovery_year: [null, ...YEARS][(index * 3) % 5] as number | null,
      habitable: [true, null, false][index % 3] as boolean | null,
      created_date: DATES[index % 3] as Date,
    })),
  })
  planetRows = await (database.client.prisma.planet as unknown as Model).findMany({})
  await database.client.prisma.moon.createMany({
    data: Array.from({ length: 60 }, (_, index) => ({
      planet_id: `p${(index * index) % 5}`,
      id: `p${index}`,
      name: `Moon ${index % 7}`,
      tidally_locked: [true, null][index % 2] as boolean | null,
      created_date: DATES[index % 3] as Date,
    })),
  })
})

/** The expected list, from the whole list that Prisma finds. */
function partOf(whole: readonly Row[], inOrder: readonly Row[], asked: Asked): string[] {
  const positionOf = (index: number | undefined, otherwise: number) =>
    index === undefined ? otherwise : inOrder.findIndex(({ id }) => id === `p${index}`)
  const rank = new Map(inOrder.map(({ id }, index) => [id, index]))
  const [low, high] = [positionOf(asked.after, -1), positionOf(asked.before, inOrder.length)]
  const between = whole.filter(({ id }) => {
    const index = rank.get(id) as number
    return index > low && index < high
  })
  const directed = asked.fromEnd ? between.toReversed() : between
  const part = directed.slice(asked.skip, asked.skip + asked.take)
  return (asked.fromEnd ? part.toReversed() : part).map(({ id }) => id)
}

test.serial('lists are the same as Prisma finds, with every filter, sort, cursor and page', async (t) => {
  const model = database.client.prisma.planet as unknown as Model
  const rows = await model.findMany({})
  await fc.assert(
    fc.asyncProperty(request, async (asked) => {
      const where = whereOf(rows, asked.filter)
      const orderBy = orderOf(planets, asked.sorts)
      const position = (index: number | undefined) => {
        const row = rows.find(({ id }) => id === `p${index}`)
        return (
          row && decodeCursor(planets, asked.sorts, encodeCursor(planets, asked.sorts, row, ''), 'after', '')
        )
      }
      const list = await database.client.list(planets, {
        ...asked,
        rows: EVERYTHING.rows(planets, asked.filter),
        after: position(asked.after),
        before: position(asked.before),
        counted: true,
      })
      t.is(list.totalCount, await model.count({ where }))
      const expected = partOf(
        await model.findMany({ where, orderBy }),
        await model.findMany({ orderBy }),
        asked,
      )
      t.deepEqual(
        list.rows.map(({ id }) => id),
        expected,
      )
    }),
    { numRuns: RUNS },
  )
})

test.serial('every page by number is the same as Prisma finds, in every order', async (t) => {
  const model = database.client.prisma.planet as unknown as Model
  for (const field of Object.keys(FIELDS)) {
    for (const direction of ['asc', 'desc'] as const) {
      const sorts: Sort[] = [{ field, direction }]
      const whole = (await model.findMany({ orderBy: orderOf(planets, sorts) })).map(({ id }) => id)
      for (const skip of [...Array(PLANETS + 2).keys(), 2 ** 33]) {
        for (const take of [1, 7]) {
          const { rows } = await database.client.list(planets, {
            rows: ALL_PLANETS,
            sorts,
            skip,
            take,
            counted: false,
          })
          const expected = whole.slice(skip, skip + take)
          t.deepEqual(
            rows.map(({ id }) => id),
            expected,
          )
        }
      }
    }
  }
})

test.serial('a list is counted when it is asked to be, whatever the requests before asked', async (t) => {
  const request = { rows: ALL_PLANETS, sorts: [], take: 3 }
  for (const counted of [false, true, false, true]) {
    const { totalCount } = await database.client.list(planets, { ...request, counted })
    t.is(totalCount, counted ? PLANETS : 0)
  }
})

test.serial('requests of one turn of the event loop receive their own pages', async (t) => {
  const skips = Array.from({ length: PLANETS }, (_, skip) => skip)
  const pages = await Promise.all(
    skips.map((skip) =>
      database.client.list(planets, { rows: ALL_PLANETS, sorts: [], skip, take: 1, counted: true }),
    ),
  )
  t.is(new Set(pages.map(({ rows: [row] }) => row?.id)).size, PLANETS)
})

test.serial('lists filtered over a relation have the rows that refer to a match', async (t) => {
  const rows = await (database.client.prisma.moon as unknown as Model).findMany({})
  const related = filter.map((related): Filter => ({ column: 'planet_id', target: planets, related }))
  const locked: Filter = { field: 'tidally_locked', operator: 'equals', value: true }
  const filters = fc.oneof(
    related,
    related.map((not): Filter => ({ not })),
    fc.tuple(related, related).map(([one, other]): Filter => ({ any: [one, { all: [other, locked] }] })),
  )
  await fc.assert(
    fc.asyncProperty(filters, async (filtered) => {
      const request = { sorts: [], rows: EVERYTHING.rows(moons, filtered), take: 100, counted: true }
      const list = await database.client.list(moons, request)
      const expected = rows.filter((row) => matches(row, filtered))
      t.is(list.totalCount, expected.length)
      t.deepEqual(list.rows.map(keyOfMoon).sort(), expected.map(keyOfMoon).sort())
    }),
    { numRuns: RUNS },
  )
})

function keyOfMoon(row: Row): string {
  return `${row['planet_id']}/${row.id}`
}

const MOON_FIELDS = ['id', 'name', 'tidally_locked', 'created_date', 'planet_id']

test.serial(
  'the lists of many parents, and of all, are the same as Prisma finds for each and for all',
  async (t) => {
    const model = database.client.prisma.moon as unknown as Model
    const sorted = fc.array(
      fc.record<Sort>({ field: fc.constantFrom(...MOON_FIELDS), direction: fc.constantFrom('asc', 'desc') }),
      { maxLength: 2 },
    )
    const asked = fc.record({
      sorts: sorted,
      skip: fc.nat({ max: 4 }),
      take: fc.nat({ max: 6 }),
      fromEnd: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(asked, async (part) => {
        const ids = ['p0', 'p1', 'p3', 'p4', 'never']
        const request = { ...part, rows: EVERYTHING.rows(moons), counted: true }
        const parents = { resource: planets, ids, column: 'planet_id', readable: undefined }
        const lists = await database.client.lists(moons, parents, request)
        const all = await database.client.list(moons, { ...request, fromEnd: false })
        const inOrder = await model.findMany({ orderBy: orderOf(moons, part.sorts) })
        t.is(all.totalCount, inOrder.length)
        t.deepEqual(all.rows.map(keyOfMoon), inOrder.slice(part.skip, part.skip + part.take).map(keyOfMoon))
        t.false(lists.has('never'))
        for (const id of ids.slice(0, -1)) {
          const orderBy = orderOf(moons, part.sorts)
          const whole = await model.findMany({ where: { planet_id: id }, orderBy })
          const directed = part.fromEnd ? whole.toReversed() : whole
          const rows = directed.slice(part.skip, part.skip + part.take)
          t.deepEqual(
            lists.get(id)?.rows.map((row) => row.id),
            (part.fromEnd ? rows.toReversed() : rows).map((row) => row.id),
          )
          t.is(lists.get(id)?.totalCount, whole.length)
        }
      }),
      { numRuns: RUNS / 3 },
    )
  },
)

function medianOf(numbers: readonly number[]): number | null {
  const sorted = numbers.toSorted((one, other) => one - other)
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]]
  return low === undefined || high === undefined ? null : (low + high) / 2
}

test.serial('aggregates have the counts and measures of the rows that Prisma finds', async (t) => {
  const model = database.client.prisma.planet as unknown as Model
  const all = await model.findMany({})
  await fc.assert(
    fc.asyncProperty(fc.option(filter, { nil: undefined }), fc.boolean(), async (filtered, exact) => {
      const rows = all.filter((row) => !filtered || matches(row, filtered))
      const groups = await aggregate(database.client, planets, {
        rows: EVERYTHING.rows(planets, filtered),
        groupBy: ['habitable'],
        measures: forMeasures(() => ['discovery_year']),
        exact,
        order: 'key',
        limit: 10,
      })
      t.deepEqual(
        groups.map(({ key, count }) => [key['habitable'], count]),
        [false, true, null]
          .map((key) => [key, rows.filter((row) => row['habitable'] === key).length])
          .filter(([, count]) => count !== 0),
      )
      for (const { key, measures } of groups) {
        const years = rows
          .filter((row) => row['habitable'] === key['habitable'])
          .flatMap((row) => (row['discovery_year'] === null ? [] : [row['discovery_year'] as number]))
        t.is(measures.minimum['discovery_year'] ?? Infinity, Math.min(...years))
        t.is(measures.maximum['discovery_year'] ?? -Infinity, Math.max(...years))
        t.is(
          measures.sum['discovery_year'] ?? 0,
          years.reduce((sum, year) => sum + year, 0),
        )
        t.is(measures.median['discovery_year'], medianOf(years))
        t.is(measures.distinctCount['discovery_year'], new Set(years).size)
      }
    }),
    { numRuns: RUNS / 3 },
  )
})
