import test from 'ava'
import type { Resource } from '../../src/model/definition/resource.ts'
import { queryable, sortable } from '../../src/model/query/query.ts'
import { type Body, Fixtures } from '../helpers/domain/fixtures.ts'
import { representatives } from '../helpers/domain/representatives.ts'
import { type Json, withoutCursors } from '../helpers/service/client.ts'
import { shareServiceOfSuite } from '../helpers/service/service.ts'

// One request after the other: side by side they would only wait for the same database.
const service = shareServiceOfSuite(test)
const fixtures = () => new Fixtures(service().writer)

/** Some resources in one list, and the filter that leaves only them in it. */
async function several(resource: Resource, count: number) {
  const parentId = await fixtures().parent(resource)
  const created: Body[] = []
  let collection = ''
  for (let number = 0; number < count; number++) {
    const body = await (number % 3 === 2 ? fixtures().minimalBody(resource) : fixtures().body(resource))
    const one = await fixtures().create(resource, { body, ...(parentId !== undefined && { parentId }) })
    created.push(one.answer.body)
    collection = one.collection
  }
  const filter = `id%5Bin%5D:${created.map(({ id }) => id).join('%7C')}`
  return { collection, items: created, filter }
}

function idsOf({ body }: { body: Json }, { path }: Resource): string[] {
  return body._embedded[path].map(({ id }: Json) => id)
}

for (const resource of representatives.filter((candidate) => candidate.listed)) {
  const { path, owner, parentField } = resource

  test.serial(
    `${path}: a list has exactly the members of SPEC §2.2, and of owned ones the parent`,
    async (t) => {
      const { reader, base } = service()
      const { collection, items, filter } = await several(resource, 1)
      const { status, body } = await reader.get(`${collection}?filter=${filter}`)
      const { _links: links, _embedded: embedded, ...rest } = body
      t.is(status, 200)
      const parentId = parentField && (items[0] as Body)[parentField]
      const parent = owner ? { [parentField as string]: parentId } : {}
      t.deepEqual(rest, { ...parent, page: 1, limit: 20, total_pages: 1, total_count: 1, has_more: false })
      const self = { href: `${base}${collection}?page=1&limit=20&filter=${filter}` }
      const parentLink = owner ? { parent: { href: `${base}/${owner.path}/${parentId}` } } : {}
      const find = { href: `${base}${collection}{?id}`, templated: true }
      t.deepEqual(links, { self, first: self, last: self, next: null, prev: null, find, ...parentLink })
      const [item] = items as [Body]
      t.deepEqual(embedded, { [path]: [{ ...item, _links: { self: item['_links'].self } }] })
    },
  )

  test.serial(
    `${path}: following next shows every one once, in the order of creation, and prev leads back`,
    async (t) => {
      const { reader } = service()
      const { collection, items, filter } = await several(resource, 5)
      const seen: string[] = []
      const pages: Json[] = []
      let address: string | undefined = `${collection}?limit=2&filter=${filter}`
      while (address) {
        const { body }: { body: Json } = await reader.get(address)
        seen.push(...idsOf({ body }, resource))
        pages.push(body)
        address = body._links.next?.href
      }
      const inOrder = [...items].sort(
        (one, other) =>
          compare(one[resource.createdField], other[resource.createdField]) ||
          compare(one['id'], other['id']),
      )
      t.deepEqual(
        seen,
        inOrder.map(({ id }) => id),
      )
      t.deepEqual(
        pages.map(({ page, limit, total_pages, total_count, has_more }) => [
          page,
          limit,
          total_pages,
          total_count,
          has_more,
        ]),
        [
          [1, 2, 3, 5, true],
          [2, 2, 3, 5, true],
          [3, 2, 3, 5, false],
        ],
      )
      const links: [Json, Json][] = [
        [pages[2]._links.prev, pages[1]],
        [pages[1]._links.prev, pages[0]],
        [pages[0]._links.last, pages[2]],
        [pages[2]._links.first, pages[0]],
      ]
      for (const [{ href }, page] of links) {
        t.deepEqual(withoutCursors((await reader.get(href)).body), withoutCursors(page))
      }
      const past = await reader.get(`${collection}?limit=2&page=9&filter=${filter}`)
      t.deepEqual(
        [past.status, idsOf(past, resource), past.body.has_more, past.body._links.next],
        [200, [], false, null],
      )
      t.is(past.body._links.prev.href, withoutCursors(pages[2])._links.self.href)
    },
  )

  test.serial(`${path}: absent next and prev are null in JSON, and omitted in HAL`, async (t) => {
    const { reader } = service()
    const { collection, filter } = await several(resource, 1)
    const address = `${collection}?filter=${filter}`
    const json = await reader.get(address)
    const hal = await reader.get(address, { accept: 'application/hal+json' })
    t.deepEqual([json.body._links.next, json.body._links.prev], [null, null])
    t.false('next' in hal.body._links || 'prev' in hal.body._links)
    const { next, prev, ...links } = json.body._links
    t.deepEqual(hal.body, { ...json.body, _links: links })
  })

  test.serial(`${path}: an empty list is 200, with no pages and one to show`, async (t) => {
    const { reader, base } = service()
    const { collection } = await several(resource, 1)
    const { status, body } = await reader.get(`${collection}?filter=id:none`)
    t.is(status, 200)
    t.like(body, { page: 1, total_pages: 0, total_count: 0, has_more: false, _embedded: { [path]: [] } })
    const only = { href: `${base}${collection}?page=1&limit=20&filter=id:none` }
    t.like(body._links, { self: only, first: only, last: only, next: null, prev: null })
  })

  test.serial(`${path}: find answers with the one that has the identifier, or with none`, async (t) => {
    const { reader, base } = service()
    const { collection, items } = await several(resource, 2)
    const template = (await reader.get(collection)).body._links.find.href as string
    const found = await reader.get(template.replace('{?id}', `?id=${items[1]?.['id']}`))
    t.deepEqual([idsOf(found, resource), found.body.total_count], [[items[1]?.['id']], 1])
    t.is(found.body._links.self.href, `${base}${collection}?page=1&limit=20&id=${items[1]?.['id']}`)
    for (const id of ['none', 'a%20b', '', 'x'.repeat(70)]) {
      const none = await reader.get(template.replace('{?id}', `?id=${id}`))
      t.deepEqual([none.status, none.body.total_count], [200, 0], id)
    }
  })

  test.serial(
    `${path}: it is sorted by every field in both directions, nulls last, then by id in the same direction`,
    async (t) => {
      const { reader } = service()
      const { collection, items, filter } = await several(resource, 5)
      for (const leaf of sortable(resource.shownLeaves)) {
        for (const direction of ['asc', 'desc']) {
          const at = (item: Body) => leaf.path.reduce<Json>((inner, name) => inner?.[name], item)
          const sign = direction === 'asc' ? 1 : -1
          const expected = [...items].sort(
            (one, other) =>
              compareNullsLast(at(one), at(other), sign) || sign * compare(one['id'], other['id']),
          )
          const sorted = await reader.get(`${collection}?sort=${leaf.name}:${direction}&filter=${filter}`)
          t.deepEqual(
            idsOf(sorted, resource),
            expected.map(({ id }) => id),
            `${leaf.name}:${direction}`,
          )
          t.true(sorted.body._links.self.href.includes(`&sort=${leaf.name}:${direction}&filter=`))
        }
      }
    },
  )

  test.serial(`${path}: several sorts are joined by commas, or repeated`, async (t) => {
    const { items, collection, filter } = await several(resource, 3)
    const sort = `${resource.createdField}:desc,id:desc`
    const { body } = await service().reader.get(`${collection}?sort=${sort}&filter=${filter}`)
    const repeated = await service().reader.get(
      `${collection}?${sort.replace(/^|,/g, '&sort=').slice(1)}&filter=${filter}`,
    )
    t.deepEqual(repeated.body, body)
    const expected = [...items].sort(
      (one, other) =>
        compare(other[resource.createdField], one[resource.createdField]) || compare(other['id'], one['id']),
    )
    t.deepEqual(
      idsOf({ body }, resource),
      expected.map(({ id }) => id),
    )
    t.true(body._links.self.href.includes(`&sort=${sort}&`))
  })

  test.serial(`${path}: an invalid parameter of a list is INVALID_QUERY_PARAMETER`, async (t) => {
    const { reader } = service()
    const { collection } = await several(resource, 1)
    const pages = ['0', '-1', '1.5', '01', '+1', ' 1', '1e3', '', 'x', '99999999999999999999']
    const bad = [
      ...pages.flatMap((value) => [
        `page=${encodeURIComponent(value)}`,
        `limit=${encodeURIComponent(value)}`,
      ]),
      'limit=101',
      'page=1&page=1',
      'limit=1&limit=2',
      'sort=id:asc&sort=',
      'id=a&id=b',
      'unknown=1',
      'Page=1',
      'constructor=1',
      'sort=',
      'sort=id',
      'sort=id:up',
      'sort=id:ASC',
      'sort=id:asc,',
      'sort=nope:asc',
      'sort=id:asc:x',
      'sort=toString:asc',
      'sort=version:asc',
      'filter=',
      'filter=id',
      'filter=nope:x',
      'filter=constructor:x',
      'filter=id[gt]:x',
      'filter=id[nope]:x',
      'filter=id[equals]:x',
      'filter=id[]:x',
      'filter=id%00:x',
      'filter=id:%00',
      'id=%00',
    ]
    for (const query of bad) {
      const { status, body } = await reader.get(`${collection}?${query}`)
      t.deepEqual([query, status, body.error?.code], [query, 400, 'INVALID_QUERY_PARAMETER'])
      t.true(
        body.error.details.length > 0 &&
          body.error.details.every(({ field, code, message }: Json) => field !== '' && code && message),
      )
    }
    const several400 = await reader.get(`${collection}?page=0&limit=0&x=1`)
    t.deepEqual(several400.body.error.details.map(({ field }: Json) => field).sort(), ['limit', 'page', 'x'])
    const unknown = await reader.get(`${collection}?filter=nope:x`)
    for (const { name } of queryable(resource.shownLeaves))
      t.true(unknown.body.error.message.includes(name), name)
  })
}

function compareNullsLast(one: Json, other: Json, sign: number): number {
  if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined)
  return sign * compare(one, other)
}

/** Numbers by value, text by code point. */
function compare(one: Json, other: Json): number {
  if (typeof one !== 'string') return Number(one) - Number(other)
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}
