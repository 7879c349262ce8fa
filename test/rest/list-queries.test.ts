import test from 'ava'
import type { Answer, Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

// How clients write the parameters of lists, and what parsers make of the header Link.

const service = shareTestService(test)

const TEXT = 'cave,bioluminescent:true'

test.before(async () => {
  const { writer } = service()
  for (const [id, habitat, bioluminescent] of [
    ['a', 'cave', true],
    ['b', 'cave', false],
    ['c', 'sea', true],
    ['d', TEXT, true],
  ] as const)
    await writer.put(`/species/${id}`, { id, scientific_name: `Queried ${id}`, habitat, bioluminescent })
})

const ids = ({ body }: Answer) => body._embedded.species.map(({ id }: Json) => id).join()

test('parameters with several values may be named with brackets, and links have the plain names', async (t) => {
  const { reader } = service()
  const bracketed =
    'sort[]=bioluminescent:asc&sort%5B%5D=id:desc&filter[]=habitat:cave&filter[]=id[in]:a|b|c&fields[]=habitat&embed[]=planet'
  const answer = await reader.get(`/species?${bracketed}`)
  t.is(answer.status, 200, answer.text)
  t.is(ids(answer), 'b,a')
  const plain = await reader.get(`/species?${bracketed.replaceAll(/\[\]|%5B%5D/g, '')}`)
  t.deepEqual(plain.body, answer.body)
  t.deepEqual((await reader.get(answer.body._links.self.href)).body, answer.body)
  t.is((await reader.get('/species/a?fields[]=habitat&fields[]=id')).body.habitat, 'cave')
  for (const name of ['page', 'limit', 'q', 'habitat', 'cursor'])
    t.is((await reader.get(`/species?${name}[]=1`)).body.error.details[0].code, 'UNKNOWN_PARAMETER', name)
})

test('two filters that a client has joined with a comma are refused, however they are encoded', async (t) => {
  const { reader } = service()
  for (const filter of [
    'habitat[ne]:cave,bioluminescent:true',
    'habitat:cave,bioluminescent[ne]:true',
    'habitat:cave,temperature_range.min_celsius[gte]:1',
    'habitat[in]:cave|sea,bioluminescent:true',
    'habitat[contains]:a,id:b',
  ])
    for (const query of [
      `filter=${filter}`,
      `filter[]=${filter}`,
      new URLSearchParams({ filter }),
      `filter=${encodeURIComponent(filter)}`,
    ]) {
      const { status, body } = await reader.get(`/species?${query}`)
      t.deepEqual([status, body.error.code], [400, 'INVALID_QUERY_PARAMETER'], `${query}`)
      t.regex(body.error.message, /repeat the parameter for \S+\. In a text, write the comma before/)
    }
})

test('a text may have a comma before the name of a field: encoded, or with in', async (t) => {
  const { reader } = service()
  for (const filter of [
    'habitat:cave%2Cbioluminescent:true',
    'habitat[contains]:ave%2Cbioluminescent:true',
    `habitat[in]:${TEXT}`,
    'habitat%5Bin%5D%3Acave%2Cbioluminescent%3Atrue',
  ]) {
    const answer = await reader.get(`/species?filter=${filter}`)
    t.is(answer.status, 200, answer.text)
    t.is(ids(answer), 'd')
    t.deepEqual((await reader.get(answer.body._links.self.href)).body, answer.body)
  }
  const bare = await reader.get(`/species?habitat=${TEXT}`)
  t.is(ids(bare), 'd')
  t.is(ids(await reader.get(bare.body._links.self.href)), 'd')
  t.is((await reader.get('/species?filter=habitat:cave,nothing:1')).status, 200, 'no field has this name')
})

test('no comma is in a target of the header Link, so parsers that split at commas follow it', async (t) => {
  const { reader } = service()
  const query = 'limit=2&sort=bioluminescent:asc,id:desc&filter=habitat[in]:cave|sea|a,b'
  const { headers } = await reader.get(`/species?${query}`, { accept: 'text/csv' })
  const links = (headers.get('link') ?? '').split(',').map((one) => one.trim())
  for (const one of links) t.regex(one, /^<[^>]+>; rel="[a-z-]+"$/)
  const [, next = ''] = /<(.+)>/.exec(links.find((one) => one.includes('rel="next"')) ?? '') ?? []
  const { status, text } = await reader.get(next, { accept: 'text/csv' })
  t.is(status, 200)
  t.regex(text, /\r\na,/)
  const json = await reader.get(`/species?${query}`)
  t.true(json.body._links.next.href.includes('sort=bioluminescent:asc,id:desc'))
})
