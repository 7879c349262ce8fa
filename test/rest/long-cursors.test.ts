import anyTest, { type TestFn } from 'ava'
import type { Json } from '../helpers/client.ts'
import { shareTestService } from '../helpers/service.ts'

const test = anyTest as TestFn
const service = shareTestService(test)

/**
 * Longer than a request line may be. Groups of them differ in the last character only. After the first character, every
 * cut at an even number of code units is inside a surrogate pair.
 */
const COUNT = 12
const objective = (index: number) => `x${'\u{1F30D}'.repeat(9_997)}${index % 3}${'abcdefghijkl'[index]}`

test.serial.before(async () => {
  await service().database.client.mission.createMany({
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
    await client.$executeRaw`ALTER TABLE spacecraft DISABLE TRIGGER ALL`
    const constraints = await client.$queryRaw<{ conname: string }[]>`
    SELECT conname::text FROM pg_constraint WHERE conrelid = 'spacecraft'::regclass AND contype = 'c'`
    for (const { conname } of constraints) {
      await client.$executeRawUnsafe(`ALTER TABLE spacecraft DROP CONSTRAINT "${conname}"`)
    }
    await client.spacecraft.createMany({
      data: ['a', 'b', 'c'].map((letter) => ({ id: letter, name: letter.repeat(600), kind: 'lander' })),
    })
    const { body } = await reader.get('/spacecraft?limit=1&sort=name:asc')
    const next = await reader.get(body._links.next.href)
    t.is(next.status, 200)
    t.is(next.body._embedded.spacecraft[0].id, 'b')
  },
)
