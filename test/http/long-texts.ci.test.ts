import test from 'ava'
import { graphNames, toGraphNames } from '../../src/graph/names.ts'
import type { Resource } from '../../src/model/definition/resource.ts'
import { queryable } from '../../src/model/query/query.ts'
import { OPERATION_HEADERS } from '../../src/rest/resource-operations.ts'
import { resources } from '../helpers/domain/domain.ts'
import type { Json } from '../helpers/service/client.ts'
import { headersRead } from '../helpers/service/headers-read.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

/** What expressions repeat, and what none of them expects at the end. */
const CHARACTERS = [' ', '0', '-', '.', ',', ':', ';', '"', '\\', '/', '|', '+', '\u00a0', 'a']
const ENDS = ['x', '1']

const longTexts = (length: number) =>
  CHARACTERS.flatMap((character) => ENDS.map((end) => `1.${character.repeat(length)}${end}`))

/** In milliseconds of this process. With quadratic time, one of these requests takes seconds. */
const LONGEST = 300

/** Sends the request again if it took long, since other work of the process counts, too. */
async function processorTime(send: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  while (times.length < 3 && Math.min(...times) > LONGEST) {
    const before = process.cpuUsage()
    await send()
    const { user, system } = process.cpuUsage(before)
    times.push((user + system) / 1_000)
  }
  return Math.min(...times)
}

/** A value for each field that callers write. */
const bodyOf = ({ writable }: Resource, value: string) => {
  const body: Record<string, Json> = {}
  for (const {
    path: [outer = '', inner],
  } of writable) {
    if (inner === undefined) body[outer] = value
    else body[outer] = { ...body[outer], [inner]: value }
  }
  return body
}

test.serial('fields of bodies and of inputs that are long texts are refused without delay', async (t) => {
  const { writer } = service()
  for (const resource of resources.filter(({ kind }) => kind === 'collection')) {
    for (const text of longTexts(50_000 / resource.writable.length)) {
      const body = bodyOf(resource, text)
      const [input, type] = [toGraphNames(resource, body), graphNames(resource).input]
      const mutation = `mutation ($input: ${type}!) { create${resource.name}(input: $input) { outcome } }`
      const time = await processorTime(async () => {
        t.is((await writer.post(`/${resource.path}`, body)).status, 400)
        t.truthy((await writer.graphql(mutation, { input })).errors)
      })
      t.true(time < LONGEST, `${resource.path} ${text.slice(0, 5)}…${text.at(-1)}: ${time} ms`)
    }
  }
})

/** Where a request has a text of the caller, how long it can be, and the request. */
async function places(): Promise<
  (readonly [string, number, (text: string) => Promise<{ status: number }>])[]
> {
  const { writer, anonymous, origin } = service()
  const inTarget = 4_500
  const inBody = 200_000
  const raw = (body: string) => writer.post('/species', body)
  const parameters = ['page', 'limit', 'sort', 'filter', 'q', 'id', 'fields', 'embed', 'cursor', 'else']
  const leaves = resources
    .filter(({ kind }) => kind === 'collection')
    .flatMap(({ path, shownLeaves }) =>
      queryable(shownLeaves).flatMap(({ name }) => [
        `${path}?filter=${name}:`,
        `${path}?filter=${name}[in]:`,
      ]),
    )
  const addresses = [
    ...parameters.map((name) => `species?${name}=`),
    ...leaves,
    'species/',
    'changes?since=',
    'changes?collection=',
    'species/x/versions?before=',
    'species?',
  ]
  const headers = [...(await headersRead()), 'x-forwarded-for', 'user-agent', 'cookie']
  const batch = (operation: object) => writer.post('/batch', { operations: [{ ...PUT, ...operation }] })
  return [
    ...addresses.map(
      (address) =>
        [address, inTarget, (text: string) => writer.get(`/${address}${encodeURIComponent(text)}`)] as const,
    ),
    ...headers.map(
      (name) => [name, 2_000, (text: string) => writer.get('/species', { [name]: text })] as const,
    ),
    ...OPERATION_HEADERS.map(
      (name) =>
        [`${name} in a batch`, 2_000, (text: string) => batch({ headers: { [name]: text } })] as const,
    ),
    ['a path in a batch', inBody, (path) => batch({ path: `/${path}` })],
    ['a method in a batch', inBody, (method) => batch({ method })],
    ['a token', 12_000, (text) => anonymous.get('/species', { authorization: `Bearer ${text}` })],
    ['a scheme', 12_000, (text) => anonymous.get('/species', { authorization: text })],
    ['a body', inBody, raw],
    ['a name in a body', inBody, (text) => writer.post('/species', { [text]: 1 })],
    ['a number in a body', inBody, (text) => raw(`{"scientific_name":${text}`)],
    ['all variables', inBody, (text) => writer.graphql(VARIABLES, { text, id: text, texts: [text] })],
    ['a literal', 30_000, (text) => writer.graphql(`{ node(nodeId: ${JSON.stringify(text)}) { nodeId } }`)],
    ['a document', 30_000, (text) => writer.graphql(text)],
    ['a comment', 30_000, (text) => writer.graphql(`{ collections { path } } # ${text}`)],
    ['a persisted operation', inBody, (id) => writer.post(`${origin}/graphql`, { id })],
  ]
}

const PUT = { method: 'PUT', path: '/planets/x', body: {} }

/** Texts wherever GraphQL takes them. */
const VARIABLES = `query ($text: String!, $id: ID!, $texts: [String!], $time: DateTime) {
  node(nodeId: $id) { nodeId }
  species(id: $id) { id }
  moonPage(planetId: $id, cursor: $text, search: $text, unlessRevision: $text) { totalCount }
  missionPage(filter: { name: { contains: $text }, launchDate: { gt: $time }, spacecraftId: { in: [$id] } }) { totalCount }
  speciesConnection(after: $text, before: $text) { totalCount }
  changes(since: $text, collections: $texts) { hasMore }
  versions(collection: $text, id: $id, parentId: $id) { hasMore }
}`

test.serial(
  'a long text takes no request longer than its length explains, wherever it is sent',
  async (t) => {
    for (const [place, length, send] of await places()) {
      for (const text of longTexts(length)) {
        const time = await processorTime(async () => t.true((await send(text)).status < 500, place))
        t.true(time < LONGEST, `${place}, ${text.slice(0, 5)}…${text.at(-1)}: ${time} ms`)
      }
    }
  },
)
