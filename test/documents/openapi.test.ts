import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import test from 'ava'
import { parse } from 'yaml'
import { errorEntries } from '../../src/documents/error-codes.ts'
import { openApiDocument } from '../../src/documents/openapi/document.ts'
import { resourceExamples } from '../../src/documents/openapi/examples.ts'
import { date, defineResource, group, integer, reference, text } from '../../src/domain/definition.ts'
import type { Resource } from '../../src/model/definition/resource.ts'
import { inspectResource } from '../../src/model/validate.ts'
import { openApiText } from '../../src/service/features.ts'
import { domainFolder, readSeeds } from '../../src/service/settings/domain-folder.ts'
import { readSettings } from '../../src/service/settings/settings.ts'
import { domain, resources } from '../helpers/domain/domain.ts'
import type { Answer, Json } from '../helpers/service/client.ts'
import {
  type CheckConformance,
  ConformanceError,
  createConformanceCheck,
} from '../helpers/service/conformance.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

const project = fileURLToPath(new URL('../../', import.meta.url))

const file = join(project, 'docs/openapi.json')

test('docs/openapi.json is what the definitions make; `npm run docs` writes it', async (t) => {
  const seeds = await readSeeds(domainFolder())
  t.true((await readFile(file, 'utf8')) === openApiText(domain, seeds))
})

test('whatever fields a resource has, there are documents, and each example of an error shows its own code', (t) => {
  const [planets] = resources as [Resource]
  const note = (fields: Resource['fields'], rest: object = {}) =>
    defineResource({ kind: 'collection', name: 'Note', path: 'notes', description: 'N.', fields, ...rest })
  const notes = note({ body: text('B.') })
  const page = { name: 'Page', path: 'pages', kind: 'owned', owner: notes }
  const coded = text('C.', { required: true, pattern: '[A-Z]', example: 'A' })
  for (const some of [
    [notes],
    [note({ colour: text('C.'), unknown_colour: text('C.') })],
    [note({})],
    [note({ size: group('S.', { height: integer('H.') }), day: date('D.', { required: true }) })],
    [note({ coded })],
    [note({ total: integer('T.', { readOnly: true }), key: text('K.', { hidden: true }) })],
    [note({ entry: text('E.') }, { appendOnly: true })],
    [note({ body: text('B.') }, page), notes],
    [
      notes,
      note({ at: group('A.', { note_id: reference('notes', 'note', 'N.') }) }, { name: 'Tag', path: 'tags' }),
    ],
    [{ ...planets, example: undefined }, ...resources.slice(1)] as Resource[],
  ]) {
    t.truthy(openApiDocument(some, { ...readSettings({}), apiVersion: 'v1' })['paths'])
    for (const { code, request = '', response } of errorEntries(some, 'http://localhost', '/api/v1')) {
      t.true(response.includes(`"${code}"`), `${code}: ${response}`)
      t.notRegex(request, /undefined|"other_id"/)
      if (some.every(({ appendOnly }) => appendOnly)) t.notRegex(request, /^(PATCH|PUT)/)
    }
  }
  const grouped = note({ at: group('A.', { house: text('H.', { required: true }) }) })
  const document = openApiDocument([grouped], { ...readSettings({}), apiVersion: 'v1' }) as Json
  const { NoteInput, NotePatch, NoteFields } = document.components.schemas
  t.like(NoteInput, { required: ['at'], properties: { at: { required: ['house'] } } })
  t.deepEqual([NotePatch.required, NotePatch.properties.at.required], [undefined, undefined])
  t.like(NoteFields.properties.at, { required: ['house'] })
})

/** The members of the operations of a document. */
function operationsIn(document: Json): Json[] {
  const items = Object.values<Json>(document.paths)
  return items.flatMap(({ parameters: _, ...methods }) => Object.values<Json>(methods))
}

test('bodies have one media type, and with every type those that the service has; descriptions name CSV', async (t) => {
  const typesIn = (document: Json) => {
    const bodies = operationsIn(document).flatMap(({ requestBody, responses }) => [
      ...(requestBody ? [requestBody] : []),
      ...Object.values<Json>(responses),
    ])
    return [...bodies, ...Object.values<Json>(document.components.responses)].flatMap(({ content }) =>
      content ? [Object.keys(content)] : [],
    )
  }
  const document = JSON.parse(await readFile(file, 'utf8'))
  t.deepEqual(
    typesIn(document).filter((types) => types.length !== 1),
    [],
  )
  const complete = JSON.parse(openApiText(domain, [], readSettings({}), true))
  const json = ['hal+', '', 'linkset+', 'merge-patch+', 'problem+', 'prs.hal-forms+', 'x-nd']
  t.deepEqual([...new Set(typesIn(complete).flat())].sort(), [
    ...json.map((kind) => `application/${kind}json`),
    ...['application/yaml', 'text/csv', 'text/event-stream', 'text/html'],
  ])
  t.is(
    document.paths['/api/v1/planets'].get.responses[200].description,
    'A page, which may be empty. Also as `text/csv` or `application/x-ndjson`.',
  )
})

test('descriptions begin with the summary, and parameters of lists have examples that are no objects', async (t) => {
  const document = JSON.parse(await readFile(file, 'utf8'))
  for (const { summary, description } of operationsIn(document)) t.true(description.startsWith(`${summary}.`))
  const { parameters } = document.components
  const ofPlanets = document.paths['/api/v1/planets'].get.parameters.map(
    ({ $ref }: Json) => parameters[$ref.split('/').at(-1)],
  )
  t.deepEqual(
    ofPlanets.flatMap(({ in: place, name, example }: Json) =>
      place === 'query' && example !== undefined ? [[name, example]] : [],
    ),
    [
      ['page', 1],
      ['limit', 20],
      ['sort', ['created_date:desc']],
      ['filter', ['created_date[gte]:2020-01-01']],
    ],
  )
  t.false(Object.values<Json>(parameters).some(({ schema }) => schema.type === 'object'))
})

test('keys of components are unique across sections and regardless of case, whatever resources are named', async (t) => {
  const { planets } = Object.fromEntries(resources.map((resource) => [resource.path, resource]))
  const documentOf = (...names: string[]): Json =>
    openApiDocument(
      names.map((name) => ({ ...(planets as Resource), name, path: name.toLowerCase() })),
      { publicBaseUrl: undefined, namespace: 'api', apiVersion: 'v1', maximumPageSize: 100 },
    )
  const named = 'Order OrderItem OrderItemLinks Link Page Problem Profile Bearer Response EmbeddedOrder'
  const several = documentOf(...named.split(' '))
  const [one, two] = [documentOf('Order'), documentOf('Order', 'Thing')].map(
    ({ components: { schemas } }) => Object.keys(schemas).length,
  ) as [number, number]
  t.is(Object.keys(several.components.schemas).length, one + 9 * (two - one))
  for (const { components } of [several, JSON.parse(await readFile(file, 'utf8'))]) {
    const keys = Object.values<Json>(components).flatMap((section) => Object.keys(section))
    t.is(new Set(keys.map((key) => key.toLowerCase())).size, keys.length)
  }
})

test('the document is served without a token, as JSON and as YAML', async (t) => {
  const json = await service().anonymous.get('/openapi.json')
  const yaml = await service().anonymous.get('/openapi.yaml')
  t.is(json.status, 200)
  t.is(json.body.openapi, '3.1.1')
  t.is(yaml.headers.get('content-type'), 'application/yaml; charset=utf-8')
  t.deepEqual(parse(yaml.text, { maxAliasCount: 0 }), json.body)
})

test('the catalogue of interfaces is found by its well-known address, and all its links work', async (t) => {
  const { anonymous, reader, origin, base } = service()
  const address = `${origin}/.well-known/api-catalog`
  const { linkset } = (await anonymous.get(address)).body
  const [catalog, rest, graphql] = linkset
  t.deepEqual(catalog, { anchor: address, item: [{ href: base }, { href: `${origin}/graphql` }] })
  t.deepEqual([rest.anchor, graphql.anchor], [base, `${origin}/graphql`])
  t.deepEqual(Object.keys(rest), ['anchor', 'service-desc', 'service-doc', 'status'])
  for (const { anchor, ...relations } of [rest, graphql]) {
    for (const { href, type } of Object.values<Json>(relations).flat()) {
      const { status, headers } = await anonymous.get(href)
      t.deepEqual([status, headers.get('content-type')?.split(';')[0]], [200, type], `${anchor} ${href}`)
    }
  }
  const link = `<${address}>; rel="api-catalog"`
  for (const answer of [await anonymous.head(address), await reader.get('')]) {
    t.true(answer.headers.get('link')?.split(', ').includes(link))
  }
})

for (const resource of resources)
  test(`${resource.path}: the schemas of its profile are strict, and mark what a form must not send`, async (t) => {
    const profile = (await service().anonymous.get(`/profile/${resource.path}`)).body
    const ajv = new Ajv2020({ strict: true })
    addFormats.default(ajv)
    // What docs/API-DESIGN.md says that strict validators need.
    ajv.addVocabulary(['x-unit']).addFormat('decimal', true)
    const schemas: Json[] = [profile.schema, profile.input, ...(profile.patch ? [profile.patch] : [])]
    for (const schema of schemas) t.notThrows(() => ajv.compile(schema))
    const [shown, ...bodies] = schemas
    const readOnly = Object.keys(shown.properties).filter((name) => shown.properties[name].readOnly)
    t.true(readOnly.includes('last_updated'))
    for (const { properties } of bodies) {
      const marked = Object.keys(properties).filter((name) => properties[name].readOnly)
      t.deepEqual(marked.sort(), [...readOnly, '_links', '_embedded', '_templates'].sort())
    }
  })

test('every pattern of the document is valid with the flags of validators and of browsers', async (t) => {
  const { body } = await service().anonymous.get('/openapi.json')
  const patternsIn = (node: Json): string[] =>
    typeof node !== 'object' || node === null
      ? []
      : [
          ...(typeof node.pattern === 'string' ? [node.pattern] : []),
          ...Object.values(node).flatMap(patternsIn),
        ]
  const patterns = new Set(patternsIn(body))
  t.true(patterns.size > 10)
  for (const pattern of patterns)
    for (const flag of ['u', 'v']) t.notThrows(() => new RegExp(pattern, flag), `${pattern} ${flag}`)
})

test('with all references resolved, no operation is longer than 80,000 characters', async (t) => {
  const { body } = await service().anonymous.get('/openapi.json')
  const lengthOf = (node: Json): number => {
    if (typeof node !== 'object' || node === null) return String(node).length
    if (typeof node['$ref'] !== 'string') return sum(Object.values(node).map(lengthOf))
    const path = node['$ref'].slice(2).split('/')
    return lengthOf(path.reduce((value: Json, name: string) => value[name], body))
  }
  for (const [path, methods] of Object.entries<Json>(body.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const length = lengthOf(operation)
      t.true(length < 80_000, `${method} ${path}: ${length}`)
    }
  }
})

for (const resource of resources) {
  test(`${resource.path}: without a catalogue, the example is one that the service would take`, (t) => {
    const { input, patch } = resourceExamples(resource, resources, [], 'http://127.0.0.1/api/v1')
    const { details } = inspectResource(resource, input)
    t.deepEqual(details, [])
    t.true(Object.keys(patch).length > 0 || resource.appendOnly === true)
  })
}

let shared: CheckConformance | undefined

const conforming = test.macro(async (t, doctor: (answer: Answer) => Answer) => {
  const { writer, settings, base } = service()
  shared ??= createConformanceCheck(settings)
  const check = shared
  const { body } = await writer.post('/planets', { name: `Doctored ${t.title}` })
  const url = `${base}/planets/${body.id}`
  const answer = await writer.get(url)
  t.notThrows(() => check('GET', url, answer))
  t.throws(() => check('GET', url, doctor(answer)), { instanceOf: ConformanceError })
})

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

const withBody = (change: (body: Json) => void) => (answer: Answer) => {
  const body = structuredClone(answer.body)
  change(body)
  return { ...answer, body }
}

test(
  'an answer with a field too many does not conform',
  conforming,
  withBody((body) => {
    body.colour = 'blue'
  }),
)

test(
  'an answer without a required field does not conform',
  conforming,
  withBody((body) => {
    delete body.name
  }),
)

test(
  'an answer with null does not conform',
  conforming,
  withBody((body) => {
    body.host_star = null
  }),
)

test(
  'an answer with a link too many does not conform',
  conforming,
  withBody((body) => {
    body._links.more = body._links.self
  }),
)

test(
  'an answer with a link too few does not conform',
  conforming,
  withBody((body) => {
    delete body._links.delete
  }),
)

test('an answer with an unknown status does not conform', conforming, (answer) => ({
  ...answer,
  status: 418,
}))

test('an answer without its headers does not conform', conforming, (answer) => ({
  ...answer,
  headers: new Headers({ 'content-type': 'application/json' }),
}))

test('an answer of another media type does not conform', conforming, (answer) => ({
  ...answer,
  headers: new Headers({ ...Object.fromEntries(answer.headers), 'content-type': 'text/plain' }),
}))
