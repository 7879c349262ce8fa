import anyTest, { type TestFn } from 'ava'
import { fc, tries } from '../helpers/process/run.ts'
import type { Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

const test = anyTest as TestFn
const service = shareTestService(test)
const RUNS = tries(12, 60)

/** What leads to a page. */
interface Place {
  readonly page: number
  readonly limit: number
  readonly cursor: string | null
}

/** A page as either face shows it. */
interface Shown {
  readonly ids: readonly string[]
  readonly page: number
  readonly totalPages: number
  readonly totalCount: number
  readonly hasMore: boolean
  readonly next: Place | null
  readonly prev: Place | null
}

type Read = (place: Place) => Promise<Shown>

/** A list that the test fills: the identifiers are in the order of the list. */
interface Subject {
  readonly read: Read
  fill(ids: readonly string[]): Promise<void>
  empty(ids: readonly string[] | undefined): Promise<void>
}

function rest(path: string, name: string): Read {
  const placeOf = (link: Json): Place | null => {
    if (!link) return null
    const { searchParams } = new URL(link.href)
    const [page, limit] = ['page', 'limit'].map((parameter) => Number(searchParams.get(parameter)))
    return { page: page as number, limit: limit as number, cursor: searchParams.get('cursor') }
  }
  return async ({ page, limit, cursor }) => {
    const position = cursor === null ? '' : `&cursor=${cursor}`
    const { body, text } = await service().reader.get(
      `${path}?page=${page}&limit=${limit}&sort=name:asc${position}`,
    )
    if (body.error) throw new Error(text)
    return {
      ids: body._embedded[name].map(({ id }: Json) => id),
      page: body.page,
      totalPages: body.total_pages,
      totalCount: body.total_count,
      hasMore: body.has_more,
      next: placeOf(body._links.next),
      prev: placeOf(body._links.prev),
    }
  }
}

function graph(field: string, parent = ''): Read {
  const query = `query ($page: Int!, $limit: Int!, $cursor: String) {
    list: ${field}(${parent} page: $page, limit: $limit, cursor: $cursor, sort: [{ field: NAME }]) {
      items { id } page totalPages totalCount hasMore nextCursor previousCursor } }`
  return async (place) => {
    const { data, errors } = await service().reader.graphql(query, place)
    if (errors) throw new Error(JSON.stringify(errors))
    const { items, nextCursor, previousCursor, ...shown } = data.list
    const neighbour = (cursor: string | null, page: number) =>
      cursor === null ? null : { page: Math.max(page, 1), limit: place.limit, cursor }
    const last = Math.min(shown.page - 1, Math.max(shown.totalPages, 1))
    return {
      ...shown,
      ids: items.map(({ id }: Json) => id),
      next: neighbour(nextCursor, shown.page + 1),
      prev:
        neighbour(previousCursor, shown.page - 1) ??
        (last > 0 ? { page: last, limit: place.limit, cursor: null } : null),
    }
  }
}

const collection = (read: Read): Subject => ({
  read,
  async fill(ids) {
    const data = ids.map((id) => ({ id, name: id, kind: 'lander' }))
    await service().database.client.prisma.spacecraft.createMany({ data })
  },
  async empty(ids) {
    await service().database.client.prisma.spacecraft.deleteMany({
      where: ids ? { id: { in: [...ids] } } : {},
    })
  },
})

const owned = (read: Read): Subject => ({
  read,
  async fill(ids) {
    const data = ids.map((id) => ({ planet_id: 'p', id, name: id }))
    await service().database.client.prisma.moon.createMany({ data })
  },
  async empty(ids) {
    const where = ids ? { id: { in: [...ids] } } : {}
    await service().database.client.prisma.moon.deleteMany({ where: { planet_id: 'p', ...where } })
  },
})

test.serial.before(async () => {
  await service().database.client.prisma.planet.create({ data: { id: 'p', name: 'p' } })
})

const AREAS = ['nothing', 'all', 'shown', 'before', 'after', 'from', 'until'] as const

/** What happens to a list between two requests, and which way the caller goes then. */
const step = fc.record({
  inserted: fc.array(fc.nat({ max: 999 }), { maxLength: 5 }),
  deleted: fc.oneof(
    fc.constant('nothing' as const),
    fc.constantFrom(...AREAS),
    fc.array(fc.nat({ max: 30 }), { maxLength: 5 }),
  ),
  way: fc.constantFrom<'next' | 'prev'>('next', 'prev', 'next'),
})

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** Those that a step deletes, of the list in order, while these are shown. */
function deletedOf({ deleted }: Step, ids: readonly string[], shown: readonly string[]): string[] {
  const [first = '', last = ''] = [shown[0], shown.at(-1)]
  if (Array.isArray(deleted)) return ids.filter((_, index) => deleted.includes(index))
  const conditions: Record<(typeof AREAS)[number], (id: string) => boolean> = {
    nothing: () => false,
    all: () => true,
    shown: (id) => shown.includes(id),
    before: (id) => id < first,
    after: (id) => id > last,
    from: (id) => id >= first,
    until: (id) => id <= last,
  }
  return ids.filter(conditions[deleted])
}

/** Every contradiction in a page of a list whose identifiers are these, in order. */
function contradictions(ids: readonly string[], shown: Shown, limit: number): string[] {
  const found: string[] = []
  const check = (holds: boolean, what: string) => void (holds || found.push(what))
  const start = ids.indexOf(shown.ids[0] ?? '')
  check(shown.totalCount === ids.length, 'the count')
  check(shown.totalPages === Math.ceil(ids.length / limit), 'the number of pages')
  check(shown.hasMore === (shown.next !== null), 'has_more and next')
  check(shown.hasMore === shown.page < shown.totalPages, 'has_more and page < total_pages')
  check(shown.page >= 1, 'the page is a number from 1')
  if (shown.ids.length === 0) {
    check(!shown.hasMore, 'nothing, and more of it')
    check(shown.page > shown.totalPages, 'an empty page within the list')
    check(shown.page === 1 || shown.prev?.page === Math.max(shown.totalPages, 1), 'the last real page')
    return found
  }
  const expected = ids.slice(start, start + shown.ids.length)
  check(JSON.stringify(expected) === JSON.stringify(shown.ids), 'neighbours')
  check(shown.hasMore === start + shown.ids.length < ids.length, 'has_more, and what there is')
  check(shown.page <= shown.totalPages, 'a page beyond the last')
  check(shown.page > 1 || start === 0 || shown.prev !== null, 'nothing leads to what is before')
  return found
}

/** What a walk must show next. */
function expectedOf(ids: readonly string[], { ids: shown }: Shown, { way }: Step, limit: number) {
  const [first = '', last = ''] = [shown[0], shown.at(-1)]
  if (way === 'next') return ids.filter((id) => id > last).slice(0, limit)
  const before = ids.filter((id) => id < first)
  const isShort = before.length === 0 || (ids.length <= limit && before.length < ids.length)
  return isShort ? ids.slice(0, limit) : before.slice(-limit)
}

for (const [name, subject] of [
  ['a collection by REST', collection(rest('/spacecraft', 'spacecraft'))],
  ['a collection by GraphQL', collection(graph('spacecraftPage'))],
  ['an owned list by REST', owned(rest('/planets/p/moons', 'moons'))],
  ['an owned list by GraphQL', owned(graph('moonPage', 'planetId: "p",'))],
] as const) {
  test.serial(
    `pages never contradict themselves, whatever is added and deleted between them: ${name}`,
    async (t) => {
      const start = fc.array(fc.nat({ max: 999 }), { maxLength: 12 })
      const steps = fc.array(step, { minLength: 1, maxLength: 8 })
      await fc.assert(
        fc.asyncProperty(start, fc.integer({ min: 1, max: 4 }), steps, async (numbers, limit, taken) => {
          await subject.empty(undefined)
          let made = 0
          const add = async (places: readonly number[]) => {
            const added = places.map((place) => `${String(place).padStart(3, '0')}-${made++}`)
            await subject.fill(added)
            return added
          }
          let ids = (await add(numbers)).sort()
          let shown = await subject.read({ page: 1, limit, cursor: null })
          t.deepEqual(contradictions(ids, shown, limit), [])
          for (const one of taken) {
            const gone = deletedOf(one, ids, shown.ids)
            await subject.empty(gone)
            ids = [...ids.filter((id) => !gone.includes(id)), ...(await add(one.inserted))].sort()
            const place = one.way === 'next' ? (shown.next ?? shown.prev) : (shown.prev ?? shown.next)
            if (!place) continue
            const way = place === shown.next ? ('next' as const) : ('prev' as const)
            const answer = await subject.read(place)
            t.deepEqual(contradictions(ids, answer, limit), [])
            if (place.cursor !== null) t.deepEqual(answer.ids, expectedOf(ids, shown, { ...one, way }, limit))
            t.deepEqual(await subject.read(place), answer)
            // Edited, the link is a link without a cursor.
            for (const edited of [
              { ...place, limit: limit + 1 },
              { ...place, page: place.page + 1 },
            ]) {
              t.deepEqual(await subject.read(edited), await subject.read({ ...edited, cursor: null }))
            }
            shown = answer
          }
        }),
        { numRuns: RUNS },
      )
    },
  )
}

test.serial('a link edited in page or limit is not an error, even together with the sort', async (t) => {
  const subject = collection(rest('/spacecraft', 'spacecraft'))
  await subject.empty(undefined)
  await subject.fill(['a', 'b', 'c', 'd', 'e'])
  const { body } = await service().reader.get('/spacecraft?limit=2&sort=name:asc')
  const url = new URL(body._links.next.href)
  const idsOf = async (parameters: Record<string, string>) => {
    const edited = new URL(url)
    for (const [name, value] of Object.entries(parameters)) edited.searchParams.set(name, value)
    const answer = await service().reader.get(edited.href)
    return answer.body._embedded?.spacecraft.map(({ id }: Json) => id) ?? answer.status
  }
  t.deepEqual(await idsOf({}), ['c', 'd'])
  t.deepEqual(await idsOf({ limit: '3' }), ['d', 'e'])
  t.deepEqual(await idsOf({ page: '1' }), ['a', 'b'])
  t.deepEqual(await idsOf({ page: '3', sort: 'name:desc' }), ['a'])
  t.is(await idsOf({ sort: 'name:desc' }), 400)
  t.is(await idsOf({ page: '3', cursor: 'nonsense' }), 400)
})
