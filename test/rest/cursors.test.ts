import { hash } from 'node:crypto'
import anyTest, { type TestFn } from 'ava'
import type { Resource } from '../../src/model/definition/resource.ts'
import { encodeCursor } from '../../src/model/query/keyset.ts'
import type { Row } from '../../src/model/rows/row.ts'
import { resources } from '../helpers/domain/domain.ts'
import type { Json, RequestHeaders } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

const test = anyTest as TestFn

const service = shareTestService(test)

const SORTS = [
  '',
  '&sort=name:desc',
  '&sort=host_star:asc',
  '&sort=host_star:desc,discovery_year:asc',
  '&sort=habitable:desc',
]

test.serial.before(async () => {
  await service().database.client.prisma.planet.createMany({
    data: Array.from({ length: 47 }, (_, index) => ({
      id: `p${String(index).padStart(2, '0')}`,
      name: `Name ${String((index * 7) % 47).padStart(2, '0')}`,
      host_star: index % 4 === 0 ? null : `star ${index % 3}`,
      discovery_year: index % 3 === 0 ? null : 2000 + (index % 4),
      habitable: [true, false, null][index % 3] as boolean | null,
    })),
  })
})

async function read(href: string, headers: RequestHeaders = {}): Promise<Json> {
  const { status, body } = await service().reader.get(href, headers)
  if (status !== 200) throw new Error(`${href} answered ${status}`)
  return body
}

const identifiers = (page: Json): string[] => page._embedded.planets.map(({ id }: Json) => id)

for (const sort of SORTS) {
  test(`pages by links are the pages by number, forwards and back: ${sort || 'no sort'}`, async (t) => {
    const forwards: string[][] = []
    let page = await read(`/planets?limit=10${sort}`)
    while (true) {
      forwards.push(identifiers(page))
      const byNumber = await read(`/planets?page=${page.page}&limit=10${sort}`)
      t.deepEqual({ ...page, _links: 0 }, { ...byNumber, _links: 0 })
      if (!page._links.next) break
      t.regex(page._links.next.href, /&cursor=[A-Za-z0-9_-]+$/)
      page = await read(page._links.next.href)
    }
    t.is(forwards.length, 5)
    const backwards: string[][] = [identifiers(page)]
    while (page._links.prev) {
      page = await read(page._links.prev.href)
      backwards.unshift(identifiers(page))
    }
    t.deepEqual(backwards, forwards)
  })
}

test('a page within a parent has a cursor too', async (t) => {
  const { writer } = service()
  for (const name of ['a', 'b', 'c']) await writer.post('/planets/p01/moons', { name })
  const first = await read('/planets/p01/moons?limit=2')
  const second = await read(first._links.next.href)
  t.deepEqual(
    second._embedded.moons.map(({ name }: Json) => name),
    ['c'],
  )
  t.is(second._links.next, null)
  t.deepEqual((await read(second._links.prev.href))._embedded, first._embedded)
})

test('the way back leads on to what was added before the first page meanwhile', async (t) => {
  const { writer } = service()
  for (const name of ['m', 'n', 'o']) await writer.post('/planets/p46/moons', { name })
  const first = await read('/planets/p46/moons?limit=2&sort=name:asc')
  const second = await read(first._links.next.href)
  await writer.post('/planets/p46/moons', { name: 'a' })
  const back = await read(second._links.prev.href)
  const before = await read(back._links.prev.href)
  const names = [before, back].flatMap(({ _embedded }) => _embedded.moons.map(({ name }: Json) => name))
  t.deepEqual(names, ['a', 'm', 'n'])
})

for (const headers of [{}, { Prefer: 'count=none' }]) {
  const isCounted = !('Prefer' in headers)
  test(`prev to a page that has shrunk is the first page: ${isCounted ? 'counted' : 'count=none'}`, async (t) => {
    const { writer } = service()
    const parent = `/planets/${isCounted ? 'p45' : 'p44'}/moons`
    for (const id of ['k', 'l', 'm'])
      t.is((await writer.put(`${parent}/${id}`, { id, name: id })).status, 201)
    const list = `${parent}?sort=name:asc&page=2`
    const shown = async (href: string) => {
      const { _embedded, page, has_more, _links } = await read(href, headers)
      return [_embedded.moons.map(({ id }: Json) => id), page, has_more, _links.prev]
    }
    const { prev: toOne } = (await read(`${list}&limit=1`, headers))._links
    const { prev: toTwo } = (await read(`${list}&limit=2`, headers))._links
    t.is((await writer.delete(`${parent}/k`)).status, 204)
    // Nothing is left before `l`.
    t.deepEqual(await shown(toOne.href), [['l'], 1, true, null])
    // `l` and `m` fit on one page, which only a count shows.
    t.deepEqual(await shown(toTwo.href), isCounted ? [['l', 'm'], 1, false, null] : [['l'], 1, true, null])
  })
}

test.serial(
  'a walk by links neither skips nor repeats what was there, whatever is added and deleted meanwhile',
  async (t) => {
    const { writer } = service()
    const before = identifiers(await read('/planets?limit=100&sort=id:asc'))
    const seen: string[] = []
    let href = '/planets?limit=5&sort=name:asc'
    for (let number = 0; href; number++) {
      const page = await read(href)
      seen.push(...identifiers(page))
      href = page._links.next?.href
      // One that sorts before everything, one that sorts behind, and the one that was just seen goes.
      await writer.put(`/planets/early-${number}`, { id: `early-${number}`, name: `A ${number}` })
      if (number < 3)
        await writer.put(`/planets/late-${number}`, { id: `late-${number}`, name: `Z ${number}` })
      await writer.delete(`/planets/${seen.at(-1)}`)
    }
    t.is(new Set(seen).size, seen.length)
    t.deepEqual(seen.filter((id) => before.includes(id)).sort(), before)
    t.deepEqual(
      seen.filter((id) => id.startsWith('late')),
      ['late-0', 'late-1', 'late-2'],
    )
  },
)

test.serial('a cursor that was changed, cut, or put to another use is a 400 that names it', async (t) => {
  const { next } = (await read('/planets?limit=5&sort=name:asc'))._links
  const url = new URL(next.href)
  const cursor = url.searchParams.get('cursor') as string
  const half = cursor.length >> 1
  const other = cursor[half] === 'A' ? 'B' : 'A'
  const changed: [string, string][] = [
    ['cursor', `${cursor.slice(0, half)}${other}${cursor.slice(half + 1)}`],
    ['cursor', cursor.slice(0, -2)],
    ['cursor', ''],
    ['cursor', 'a'],
    ['sort', 'name:desc'],
    ['sort', 'host_star:asc'],
  ]
  for (const [name, value] of changed) {
    const another = new URL(url)
    another.searchParams.set(name, value)
    const { status, body } = await service().reader.get(another.href)
    t.is(status, 400, `${name}=${value}`)
    t.is(body.error.code, 'INVALID_QUERY_PARAMETER')
    t.is(body.error.details[0].field, 'cursor')
  }
})

test('a made-up cursor with U+0000 is a 400', async (t) => {
  const planets = resources.find(({ path }) => path === 'planets') as Resource
  const made = (name: string) =>
    encodeCursor(
      planets,
      [{ field: 'name', direction: 'asc' }],
      { id: 'p00', version: 1, name } as unknown as Row,
      '',
      'after 2 5',
    )
  const href = (cursor: string) => `/planets?page=2&limit=5&sort=name:asc&cursor=${cursor}`
  t.is((await service().reader.get(href(made('Name 00')))).status, 200)
  const { status, body } = await service().reader.get(href(made('Name \0')))
  t.deepEqual(
    [status, body.error.code, body.error.details[0].field],
    [400, 'INVALID_QUERY_PARAMETER', 'cursor'],
  )
})

test.serial('a cursor with any one character changed is a 400, or still the same cursor', async (t) => {
  const { next } = (await read('/planets?limit=5&sort=name:asc'))._links
  const url = new URL(next.href)
  const cursor = url.searchParams.get('cursor') as string
  const page = await read(next.href)
  const shown = ({ _embedded, page: number, has_more }: Json) => ({ _embedded, number, has_more })
  for (const index of cursor.split('').keys()) {
    for (const distance of [1, 4, 16]) {
      const changed = `${cursor.slice(0, index)}${otherLetter(cursor[index] as string, distance)}${cursor.slice(index + 1)}`
      url.searchParams.set('cursor', changed)
      const { status, body } = await service().reader.get(url.href)
      // The bits that base64url leaves unused may differ: the page is the same, then.
      if (status === 200) t.deepEqual(shown(body), shown(page), changed)
      else t.is(status, 400, changed)
    }
  }
})

/** Another letter of base64url, which differs in one bit. */
function otherLetter(letter: string, bit: number): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return letters[letters.indexOf(letter) ^ bit] as string
}

/**
 * Longer than a request line may be. Groups of them differ in the last character only. After the first character, every
 * cut at an even number of code units is inside a surrogate pair.
 */
const COUNT = 12

const objective = (index: number) => `x${'\u{1F30D}'.repeat(9_997)}${index % 3}${'abcdefghijkl'[index]}`

test.serial.before(async () => {
  await service().database.client.prisma.mission.createMany({
    data: Array.from({ length: COUNT }, (_, index) => ({
      id: `m${String(index).padStart(2, '0')}`,
      name: `${'name '.repeat(90)}${index}`,
      status: 'planned',
      objective: index === 5 ? null : objective(index),
    })),
  })
})

/** The identifiers of all pages, as the links lead to them; `visited` is called between them. */
async function walk(sort: string, relation: 'next' | 'prev', visited = async (_: string[]) => {}) {
  const { reader } = service()
  const seen: string[] = []
  let href = `/missions?limit=2&sort=${sort}${relation === 'prev' ? `&page=${COUNT / 2}` : ''}`
  while (href) {
    const { status, body } = await reader.get(href)
    if (status !== 200) throw new Error(`${href.slice(0, 200)} answered ${status}`)
    const ids: string[] = body._embedded.missions.map(({ id }: Json) => id)
    if (relation === 'next') seen.push(...ids)
    else seen.unshift(...ids)
    href = body._links[relation]?.href ?? ''
    const cursor = href && (new URL(href).searchParams.get('cursor') ?? '')
    if (cursor.length > 1_000) throw new Error(`The cursor has ${cursor.length} characters`)
    await visited(ids)
  }
  return seen
}

for (const sort of [
  'objective:asc',
  'objective:desc',
  'name:desc',
  'objective:asc,name:desc,status:asc,launch_date:asc,created_date:desc',
]) {
  test.serial(
    `a list sorted by long texts can be followed in both directions by short links: ${sort}`,
    async (t) => {
      const { body } = await service().reader.get(`/missions?limit=100&sort=${sort}`)
      const expected = body._embedded.missions.map(({ id }: Json) => id)
      t.is(expected.length, COUNT)
      t.deepEqual(await walk(sort, 'next'), expected)
      t.deepEqual(await walk(sort, 'prev'), expected)
    },
  )
}

for (const direction of ['asc', 'desc']) {
  test.serial(
    `following a list of long texts misses nothing when the item before the page is changed: ${direction}`,
    async (t) => {
      const { writer } = service()
      let number = 0
      const changeLast = async (ids: string[]) => {
        const last = ids.at(-1)
        if (!last || number >= 3) return
        const { status } = await writer.patch(`/missions/${last}`, {
          name: `renamed ${direction} ${number++}`,
        })
        t.is(status, 204)
      }
      const seen = await walk(`objective:${direction}`, 'next', changeLast)
      t.is(new Set(seen).size, COUNT)
    },
  )
}

test.serial(
  'a row written directly with a text beyond its declared length does not break the list',
  async (t) => {
    // A client that does not compare the answers with the OpenAPI document: this one is not as documented.
    const reader = service().withSubject('reader')
    const { client } = service().database
    await client.prisma.$executeRaw`ALTER TABLE spacecraft DISABLE TRIGGER ALL`
    const constraints = await client.prisma.$queryRaw<{ conname: string }[]>`
    SELECT conname::text FROM pg_constraint WHERE conrelid = 'spacecraft'::regclass AND contype = 'c'`
    for (const { conname } of constraints) {
      await client.prisma.$executeRawUnsafe(`ALTER TABLE spacecraft DROP CONSTRAINT "${conname}"`)
    }
    await client.prisma.spacecraft.createMany({
      data: ['a', 'b', 'c'].map((letter) => ({ id: letter, name: letter.repeat(600), kind: 'lander' })),
    })
    const { body } = await reader.get('/spacecraft?limit=1&sort=name:asc')
    const next = await reader.get(body._links.next.href)
    t.is(next.status, 200)
    t.is(next.body._embedded.spacecraft[0].id, 'b')
  },
)

test('a cursor has at most 8,000 characters', async (t) => {
  const list = '/planets?limit=5&sort=name:asc&page=2&cursor='
  const { _links } = await read('/planets?limit=5&sort=name:asc')
  const known = new URL(_links.next.href).searchParams.get('cursor') ?? ''
  const text = Buffer.from(known, 'base64url').toString().slice(DIGEST_CHARACTERS)
  // Blanks behind the values change nothing else.
  const longer = (bytes: number) => {
    const padded = text.padEnd(bytes - DIGEST_CHARACTERS)
    const digest = hash('sha256', padded, 'base64url').slice(0, DIGEST_CHARACTERS)
    return Buffer.from(digest + padded).toString('base64url')
  }
  const statusOf = async (cursor: string) => [
    cursor.length,
    (await service().reader.get(list + cursor)).status,
  ]
  t.deepEqual(await statusOf(longer(6_000)), [8_000, 200])
  t.deepEqual(await statusOf(longer(6_001)), [8_002, 400])
})

const DIGEST_CHARACTERS = 8
