import test, { type ExecutionContext } from 'ava'
import { type ModelSpecies, SpeciesModel, type Step, sorted } from '../helpers/domain/species-model.ts'
import { fc, tries } from '../helpers/process/run.ts'
import type { Client, Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

const range = fc.record(
  {
    min_celsius: fc.constantFrom(-300, -10, 0, 25.5),
    max_celsius: fc.constantFrom(-20, 0, 25.5, 1e6),
  },
  { requiredKeys: [] },
)
const species = fc.record(
  {
    scientific_name: fc.constantFrom('Alpha', ' alpha ', 'Beta', 'Gamma', ' '),
    habitat: fc.constantFrom('sea', 'Sea', 'a:b|c', 'ß "\\ \u{1f40b}'),
    temperature_range: range,
  },
  { requiredKeys: [] },
)
const id = fc.constantFrom('one', 'two', 'three')
const ifVersion = fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined, freq: 3 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      id,
      species,
      namesItself: fc.boolean(),
      ifVersion,
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('patch' as const), id, species, ifVersion }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), id, ifVersion }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('read' as const), id }) },
)

let histories = 0

test.serial(
  'every history of requests goes as a small model of the contract says, in REST and GraphQL',
  async (t) => {
    const { writer } = service()
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const prefix = `h${++histories}-`
        const model = new SpeciesModel()
        for (const taken of steps) {
          const expected = model.take(taken)
          const { status, version, shown } = await perform(writer, prefix, taken)
          t.is(status, expected.status, JSON.stringify(taken))
          if (expected.version !== undefined) t.is(version, expected.version, JSON.stringify(taken))
          if (expected.species) t.deepEqual(shown, sorted(expected.species))
          await alsoInGraphQL(t, writer, prefix, taken.id, model)
        }
        const list = await writer.get(`/species?limit=100&filter=scientific_name[contains]:${prefix}`)
        t.is(list.body.total_count, model.total)
      }),
      { numRuns: tries(8, 25) },
    )
  },
)

/** Names are unique in the whole collection: those of a history are its own. */
function named(prefix: string, { scientific_name, ...rest }: ModelSpecies) {
  if (scientific_name === undefined || scientific_name.trim() === '') return { scientific_name, ...rest }
  const [, before, name, after] = /^(\s*)(.*?)(\s*)$/.exec(scientific_name) as unknown as string[]
  return { scientific_name: `${before}${prefix}${name}${after}`, ...rest }
}

async function perform(client: Client, prefix: string, step: Step) {
  const path = `/species/${prefix}${step.id}`
  const condition = 'ifVersion' in step && step.ifVersion !== undefined
  const headers: Record<string, string> = condition
    ? { 'if-match': `"${prefix}${step.id}:${step.ifVersion}"` }
    : {}
  const answer = await (() => {
    switch (step.kind) {
      case 'read':
        return client.get(path)
      case 'delete':
        return client.delete(path, headers)
      case 'put':
        return client.put(
          path,
          { ...named(prefix, step.species), ...(step.namesItself && { id: prefix + step.id }) },
          headers,
        )
      case 'patch':
        return client.patch(path, named(prefix, step.species), headers)
    }
  })()
  const version = Number(/:(\d+)"$/.exec(answer.headers.get('etag') ?? '')?.[1])
  return { status: answer.status, version, shown: shownSpecies(prefix, answer.body) }
}

function shownSpecies(prefix: string, body: Json): ModelSpecies {
  const { scientific_name = '', habitat, temperature_range } = body ?? {}
  return sorted({ scientific_name: scientific_name.replace(prefix, ''), habitat, temperature_range })
}

async function alsoInGraphQL(
  t: ExecutionContext,
  client: Client,
  prefix: string,
  id: string,
  model: SpeciesModel,
) {
  const expected = model.take({ kind: 'read', id })
  const { data, errors } = await client.graphql(
    `query ($id: ID!) { species(id: $id) { scientificName habitat version temperatureRange { minCelsius maxCelsius } } }`,
    { id: prefix + id },
  )
  if (!expected.species) {
    return t.is(errors?.[0].extensions.code, expected.status === 410 ? 'RESOURCE_GONE' : 'RESOURCE_NOT_FOUND')
  }
  const { scientificName, habitat, version, temperatureRange } = data.species
  t.is(version, expected.version)
  const { minCelsius, maxCelsius } = temperatureRange ?? {}
  const temperature_range = { min_celsius: minCelsius ?? undefined, max_celsius: maxCelsius ?? undefined }
  const shown = { scientific_name: scientificName, habitat: habitat ?? undefined, temperature_range }
  t.deepEqual(shownSpecies(prefix, shown), sorted(expected.species))
}

test.serial('no JSON body causes an internal error', async (t) => {
  const { writer } = service()
  const names = fc.constantFrom(
    'scientific_name',
    'temperature_range',
    'classification',
    'id',
    '_links',
    'last_updated',
    'discovered_date',
    'x',
  )
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.jsonValue(),
      fc.string({ unit: 'binary' }),
      fc.double(),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(names, tie('value'), { maxKeys: 4 }),
    ),
  })).value
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('POST', 'PUT', 'PATCH'),
      fc.oneof(value, fc.dictionary(names, value)),
      async (method, body) => {
        const path = method === 'POST' ? '/species' : '/species/any-json'
        const answer = await writer.request(method, path, JSON.stringify(body) ?? 'null')
        t.true(
          [201, 204, 400, 404, 409, 422].includes(answer.status),
          `${answer.status} ${JSON.stringify(body)}`,
        )
        if (answer.status >= 400) t.truthy(answer.body.error.code)
      },
    ),
    { numRuns: tries(50, 200) },
  )
})

test.serial('no query string causes an internal error', async (t) => {
  const { reader } = service()
  const parameter = fc.tuple(
    fc.constantFrom('page', 'limit', 'sort', 'filter', 'id', 'x'),
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '0',
        '1',
        '-1',
        '1e3',
        '99999999999',
        'habitat:asc',
        'habitat:x',
        'temperature_range.min_celsius[gt]:1',
        'id[in]:a|b',
        'discovered_date[lt]:2030-01-01',
        '%',
        '%ff',
        '%00',
        'habitat:%ed%a0%80',
      ),
    ),
    fc.boolean(),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(parameter, { maxLength: 4 }), async (parameters) => {
      const query = parameters.map(
        ([name, value, isRaw]) =>
          `${name}=${isRaw ? value.replace(/[^!-~]|#/g, '') : encodeURIComponent(value.toWellFormed())}`,
      )
      const { status, body } = await reader.get(`/species?${query.join('&')}`)
      t.true(status === 200 || status === 400, `${status} ${query}`)
      t.truthy(status === 200 ? body._embedded : body.error.code)
    }),
    { numRuns: tries(50, 200) },
  )
})
