import test from 'ava'
import { createSeeds } from '../../src/commands/seed/create-seeds.ts'
import { operatorSessions } from '../../src/commands/shared-database.ts'
import { domain } from '../../src/domain/resources/index.ts'
import { type ErrorCode, STATUS } from '../../src/model/errors.ts'
import { domainFolder, readSeeds } from '../../src/service/settings/domain-folder.ts'
import { openConnection, readToEnd } from '../helpers/process/raw-connection.ts'
import type { Json } from '../helpers/service/client.ts'
import { shareTestService, type TestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

/** The request that the reference page sends at the first press of Execute. */
function exampleRequest(path: string, item: Json, method: string, operation: Json, document: Json) {
  const resolve = (value: Json): Json =>
    value.$ref ? document.components.parameters[value.$ref.split('/').at(-1)] : value
  const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(resolve)
  const address = parameters.reduce<string>(
    (text, { name, in: place, example }) => (place === 'path' ? text.replace(`{${name}}`, example) : text),
    path,
  )
  const query = new URLSearchParams()
  for (const { name, in: place, example, explode } of parameters) {
    if (place !== 'query' || !Array.isArray(example)) continue
    for (const value of explode ? example : [example.join(',')]) query.append(name, value)
  }
  const content = operation.requestBody?.content
  const [type] = Object.keys(content ?? {})
  return {
    method: method.toUpperCase(),
    url: `${document.servers[0].url}${address}${query.size > 0 ? `?${query}` : ''}`,
    body: type && content[type].example,
    headers: type ? { 'content-type': type } : {},
  }
}

const EXPECTED: Readonly<Record<string, number>> = { get: 200, post: 201, put: 204, patch: 204, delete: 204 }

/** Adds the example catalogue; resolves to the collections in it. */
async function seed({ database }: TestService): Promise<Set<string>> {
  const seeds = await readSeeds(domainFolder())
  const ruleSettings = { planetReference: 'stub' }
  const settings = { ruleSettings, idempotencyKeyHours: 1, maximumPageSize: 100 }
  await createSeeds(seeds, domain.resources, operatorSessions({ settings, domain }, database)())
  return new Set(seeds.map(({ collection }) => collection))
}

const succeeding = test.macro(async (t, methods: readonly string[]) => {
  const { writer, anonymous, origin, base } = service()
  const { body: document } = await anonymous.get('/openapi.json')
  t.is(document.servers[0].url, origin)
  // A collection that the catalogue does not have yet has no example to read.
  const seeded = await seed(service())
  t.true(seeded.size >= 10)
  const empty = domain.resources
    .filter(({ path }) => !seeded.has(path))
    .map(({ path }) => `${new URL(base).pathname}/${path}`)
  const paths = Object.entries<Json>(document.paths).filter(
    ([path]) => !empty.some((one) => path.startsWith(one)),
  )
  // What is owned is deleted before its owner.
  for (const [path, item] of paths.toReversed()) {
    for (const method of methods.filter((name) => item[name])) {
      const { url, body, headers, ...request } = exampleRequest(path, item, method, item[method], document)
      const answer = await writer.request(request.method, url, body, headers)
      // A batch creates nothing itself.
      const expected = path.endsWith('/batch') ? 200 : (EXPECTED[method] as number)
      t.is(answer.status, expected, `${request.method} ${url}: ${answer.text.slice(0, 300)}`)
      for (const items of Object.values<Json>(answer.body?._embedded ?? {})) t.true(items.length > 0, url)
    }
  }
})

test.serial('on the seeded catalogue, the examples that read and change succeed', succeeding, [
  'get',
  'put',
  'patch',
])
test.serial('on the seeded catalogue, the examples that delete succeed', succeeding, ['delete'])

test.serial('no operation is named by its path, and no schema after a type of the language', async (t) => {
  const { body: document } = await service().anonymous.get('/openapi.json')
  t.is(document.components.schemas.Error, undefined)
  const { summary } = document.paths['/api/v1/missions/{mission_id}/crew/{id}'].patch
  t.is(summary, 'Update a crew member of a mission')
})

test.serial(
  'every error leads to the page of its code, which shows a request and its response',
  async (t) => {
    const { anonymous, reader, writer, origin, base } = service()
    for (const { headers, body, url } of await Promise.all([
      anonymous.get('/planets').then((answer) => ({ ...answer, url: `${base}/planets` })),
      reader
        .get('/planets/none/moons/none')
        .then((answer) => ({ ...answer, url: `${base}/planets/none/moons/none` })),
      writer.post('/planets', {}).then((answer) => ({ ...answer, url: `${base}/planets` })),
      reader.get(`${origin}/nowhere`).then((answer) => ({ ...answer, url: `${origin}/nowhere` })),
      anonymous.graphql('{ collections { path } }').then((answer) => ({
        ...answer,
        body: { error: answer.errors?.[0].extensions },
        url: `${origin}/graphql`,
      })),
    ])) {
      const [, address = ''] = /<([^>]*)>; rel="help"/.exec(headers.get('link') ?? '') ?? []
      const page = await anonymous.get(new URL(address, url).href)
      t.deepEqual([page.status, page.body?.code], [200, body.error.code], url)
      t.true(page.body.retry.length > 2)
      t.regex(page.body.request, /^[A-Z]+ \//)
      t.regex(
        page.body.response,
        new RegExp(`^HTTP/1.1 ${page.body.status}\n[^]*"code": "${page.body.code}"`),
      )
    }
  },
)

/** Codes of requests that are shown in part, or that are only sometimes answered so. */
const NOT_SENT = [
  'REQUEST_TIMEOUT',
  'TOO_LONG',
  'HEADERS_TOO_LARGE',
  'TOO_MANY_REQUESTS',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
]

test.serial('the examples of errors name the service that shows them, and are what it answers', async (t) => {
  const { anonymous, reader, writer, origin } = service()
  const { host } = new URL(origin)
  for (const id of ['example', 'deleted'])
    t.is((await writer.put(`/species/${id}`, { id, scientific_name: `${id} one` })).status, 201)
  await writer.patch('/species/example', { habitat: 'elsewhere' })
  await writer.delete('/species/deleted')
  await writer.put('/planets/example', { id: 'example', name: 'Referred to' })
  await writer.put('/missions/example', { id: 'example', name: 'Refers', destination_planet_id: 'example' })
  const used = { 'idempotency-key': 'used-with-another-body' }
  await writer.post('/species', { scientific_name: 'Other' }, used)
  const { body } = await anonymous.get(`${origin}/errors`)
  for (const { code, request, response } of body.errors as Json[]) {
    if (request === undefined) {
      const { error } = JSON.parse(response.split('\n\n')[1])
      t.is(error.details[0].code, code)
      t.true(response.startsWith(`HTTP/1.1 ${STATUS[error.code as ErrorCode]}\n`))
      continue
    }
    if (code !== 'MALFORMED_REQUEST') t.true(request.includes(`\nHost: ${host}`), request)
    t.true(
      (await anonymous.get(`${origin}/errors/${code}`, { accept: 'text/html' })).text.includes(host),
      code,
    )
    if (NOT_SENT.includes(code)) continue
    const { authorization = '' } = code === 'ACCESS_DENIED' ? reader : writer
    const [head, content = ''] = request.replace(/\n\n\(.*\)$/, '').split('\n\n')
    const length =
      head.includes('Content-Length') || content === '' ? '' : `\nContent-Length: ${content.length}`
    const sent = `${head}${length}\nConnection: close`.replaceAll('\n', '\r\n')
    const connection = await openConnection(origin)
    connection.write(`${sent.replace('Bearer <token>', authorization)}\r\n\r\n${content}`)
    const answer = await readToEnd(connection)
    t.is(answer.split(' ')[1], response.split(' ')[1].slice(0, 3), `${request}\n\n${answer}`)
    t.deepEqual(JSON.parse(answer.split('\r\n\r\n')[1] ?? ''), JSON.parse(response.split('\n\n')[1]), request)
  }
})

// The last one: what it creates is in the way of the others.
test.serial('on the seeded catalogue, the examples that create succeed', succeeding, ['post'])
