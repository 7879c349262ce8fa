import { deepStrictEqual } from 'node:assert'
import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import type { Resource } from '../../src/domain/definition.ts'
import { graphNames, parentArgument, singular, toGraphNames } from '../../src/graph/names.ts'
import { mapped } from '../../src/model/values.ts'
import { resources } from '../helpers/domain/domain.ts'
import { type Body, Fixtures, resourcePath, writtenPart } from '../helpers/domain/fixtures.ts'
import { representatives } from '../helpers/domain/representatives.ts'
import { fc, tries } from '../helpers/process/run.ts'
import type { Answer, Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

// Sends each random write over both faces, alone and in a transaction, each time to a resource with the same history.

const RUNS = tries(20, 150)

const service = shareTestService(test)

const fixtures = () => new Fixtures(service().writer)

const HISTORIES = ['never existed', 'exists', 'changed', 'deleted', 'created again', 'deleted again'] as const

interface Write {
  readonly method: 'PUT' | 'PATCH' | 'DELETE'
  readonly history: (typeof HISTORIES)[number]
  /** Whether the values are those that are stored. */
  readonly isSame: boolean
  /** If-Match. Tags that name no version are -1. */
  readonly versions: readonly number[] | '*' | undefined
  /** If-Unmodified-Since, in milliseconds after the last change. */
  readonly since: number | 'malformed' | undefined
  /** If-None-Match. */
  readonly unless: readonly number[] | '*' | undefined
  /** Whether the body has the identifier. */
  readonly hasId: boolean
  /** The date of creation in the body, with `Prefer: handling=lenient` or without. */
  readonly echo: 'none' | 'stored' | 'other' | 'other, lenient'
  /** `Prefer: handling=strict` of DELETE. */
  readonly isStrict: boolean
}

const some = <Value>(...values: Value[]) => fc.constantFrom(...values)
const version = some(1, 2, 3, 4, 5, 0, -1, 2_147_483_647)

/** The writes that a resource has, and what can have happened to it. */
const writes = ({ replaceable }: Resource): fc.Arbitrary<Write> =>
  fc.record({
    method: replaceable ? some('PUT', 'PATCH', 'DELETE') : some('DELETE'),
    history: replaceable ? some(...HISTORIES) : some('never existed', 'exists', 'deleted'),
    isSame: fc.boolean(),
    versions: fc.oneof(some(undefined), some('*' as const), fc.array(version, { maxLength: 5 })),
    since: some<Write['since']>(undefined, 'malformed', -60_000, -1_000, 0, 60_000),
    unless: fc.oneof(some(undefined), some('*' as const), fc.array(version, { maxLength: 3 })),
    hasId: fc.boolean(),
    echo: some<Write['echo']>('none', 'none', 'stored', 'other', 'other, lenient'),
    isStrict: fc.boolean(),
  })

/** A resource, its address and what was and will be written. */
interface Target {
  readonly resource: Resource
  readonly parentId: string | undefined
  readonly id: string
  readonly path: string
  readonly first: Body
  readonly second: Body
  readonly last: Answer
}

let made = 0

async function prepare(resource: Resource, history: Write['history']): Promise<Target> {
  const { writer } = service()
  const parentId = await fixtures().parent(resource)
  made += 1
  const [first, second] = [await fixtures().body(resource), await fixtures().body(resource)]
  const isPosted = !resource.replaceable && history !== 'never existed'
  const id = isPosted
    ? (await fixtures().create(resource, { body: first, ...(parentId !== undefined && { parentId }) })).id
    : resource.listed
      ? `conditional-${made}`
      : (parentId as string)
  const path = resourcePath(resource, parentId, id)
  const send = async (method: string, body?: Body) => {
    const answer = await writer.request(method, path, body && { ...body, ...(resource.listed && { id }) })
    if (answer.status >= 400) throw new Error(answer.text)
  }
  const steps = HISTORIES.slice(1, HISTORIES.indexOf(history) + 1)
  for (const step of steps) {
    if (step.startsWith('deleted')) await send('DELETE')
    else if (resource.replaceable) await send('PUT', step === 'changed' ? second : first)
  }
  return { resource, parentId, id, path, first, second, last: await service().reader.get(path) }
}

const PLAIN: Write = {
  method: 'DELETE',
  history: 'exists',
  isSame: true,
  versions: undefined,
  since: undefined,
  unless: undefined,
  hasId: true,
  echo: 'none',
  isStrict: true,
}

/** Writes that have these outcomes, whatever the random ones have. */
const EXAMPLES: Readonly<Record<string, Write>> = {
  done: PLAIN,
  RESOURCE_NOT_FOUND: { ...PLAIN, history: 'never existed' },
  PRECONDITION_FAILED: { ...PLAIN, unless: [1, 2] },
  RESOURCE_GONE: { ...PLAIN, history: 'deleted' },
  CONCURRENT_MODIFICATION: { ...PLAIN, versions: [0] },
}

const EXAMPLES_OF_REPLACEABLE: Readonly<Record<string, Write>> = {
  created: { ...PLAIN, method: 'PUT', history: 'never existed' },
  VALIDATION_FAILED: { ...PLAIN, method: 'PATCH', echo: 'other' },
}

interface Outcome {
  readonly code: string
  readonly state: Json
}

type Face = (write: Write, target: Target) => Promise<string>

/** Checks the outcome of a write. Returns it and the resource after it, without what differs between equal resources. */
async function outcomeOf(resource: Resource, write: Write, send: Face): Promise<Outcome> {
  const target = await prepare(resource, write.history)
  const code = await send(write, target)
  deepStrictEqual(code, decide(write, target))
  const { status, body, headers } = await service().reader.get(target.path)
  const [, version] = /:(\d+)"$/.exec(headers.get('etag') ?? '') ?? []
  const origin = (value: Json, name: string) =>
    (['first', 'second'] as const).find((one) => isDeepStrictEqual(value, target[one][name])) ?? 'other'
  const values = status === 200 ? mapped(writtenPart(resource, body), origin) : undefined
  return { code, state: { status, version, values } }
}

/** The outcome that the conditions have, as SPEC §4.4–4.7 and RFC 9110 §13 decide them. */
function decide(write: Write, { resource, last }: Target): string {
  const { method, versions, since, unless, hasId, echo, isStrict } = write
  if (last.status !== 200) {
    if (method === 'DELETE' && !isStrict) return 'done'
    if (method === 'DELETE' && last.status === 410) return 'RESOURCE_GONE'
    const mayCreate = method === 'PUT' && (hasId || unless === '*' || !resource.listed)
    return mayCreate && versions === undefined ? 'created' : 'RESOURCE_NOT_FOUND'
  }
  const current = Number(last.headers.get('etag')?.split(':')[1]?.slice(0, -1))
  if (unless === '*' || unless?.includes(current)) return 'PRECONDITION_FAILED'
  const isExpected =
    versions === undefined ? !(Number(since) < 0) : versions === '*' || versions.includes(current)
  if (!isExpected) return 'CONCURRENT_MODIFICATION'
  return method !== 'DELETE' && echo === 'other' ? 'VALIDATION_FAILED' : 'done'
}

function valuesOf({ isSame, history }: Write, { first, second }: Target): Body {
  const isSecond = history === 'changed' ? isSame : !isSame
  return isSecond ? second : first
}

/** The last change of the resource, or the present if there is none. */
const changedAt = ({ last }: Target) =>
  Date.parse(last.headers.get('last-modified') ?? new Date().toUTCString())

function echoOf({ echo }: Write, { resource, last }: Target): Body {
  if (echo === 'none') return {}
  const stored = last.body?.[resource.createdField] ?? '2000-01-01T00:00:00.000Z'
  return { [resource.createdField]: echo === 'stored' ? stored : '1999-01-01T00:00:00.000Z' }
}

function asRequest(write: Write, target: Target) {
  const { method, versions, since, unless, hasId, echo, isStrict } = write
  const { resource, id, path } = target
  const tagsOf = (named: Write['versions']) =>
    named === '*' ? '*' : named?.map((one) => (one < 0 ? '"other:1"' : `"${id}:${one}"`)).join()
  const [tags, excluded] = [tagsOf(versions), tagsOf(unless)]
  const date = typeof since === 'number' ? new Date(changedAt(target) + since).toUTCString() : since
  const isLenient = echo === 'other, lenient' && method !== 'DELETE'
  const prefer = isLenient
    ? 'handling=lenient'
    : isStrict && method === 'DELETE'
      ? 'handling=strict'
      : undefined
  const headers = {
    ...(tags !== undefined && { 'if-match': tags }),
    ...(date !== undefined && { 'if-unmodified-since': date }),
    ...(excluded !== undefined && { 'if-none-match': excluded }),
    ...(prefer && { prefer }),
  }
  const body = {
    ...(hasId && resource.listed && { id }),
    ...valuesOf(write, target),
    ...echoOf(write, target),
  }
  return { method, path, headers, ...(method !== 'DELETE' && { body }) }
}

const asOneRequest: Face = async (write, target) => {
  const { method, path, headers, body: sent } = asRequest(write, target)
  const { status, body } = await service().writer.request(method, path, sent, headers)
  return body?.error?.code ?? (status === 201 ? 'created' : 'done')
}

const asBatch: Face = async (write, target) => {
  const { body } = await service().writer.post('/batch', { operations: [asRequest(write, target)] })
  return body.error?.code ?? (body.results[0].status === 201 ? 'created' : 'done')
}

/** As docs/GRAPHQL.md and the schema describe the arguments. */
const asMutation =
  (directive: string): Face =>
  async (write, target) => {
    const { method, versions, since, unless, hasId, echo, isStrict } = write
    const { resource, parentId, id } = target
    const names = graphNames(resource)
    const field = { PUT: names.put, PATCH: names.patch, DELETE: names.delete }[method]
    // With If-Match, REST ignores the date, and creates nothing (RFC 9110 §13.1).
    // GraphQL ignores parts of a second.
    const isDated = typeof since === 'number' && versions === undefined
    const values = toGraphNames(resource, valuesOf(write, target))
    const sent = echo === 'other, lenient' ? {} : echoOf(write, target)
    const given: [name: string, type: string, value: unknown][] = [
      ['unlessVersion', '[Int!]', unless === '*' ? undefined : unless],
      ['unlessExists', 'Boolean', unless === '*' || undefined],
      [parentArgument(resource) ?? '', 'ID!', parentId],
      ['id', 'ID!', resource.listed ? id : undefined],
      ['ifVersion', '[Int!]', versions === '*' ? undefined : versions],
      [
        'ifUnmodifiedSince',
        'DateTime',
        isDated ? new Date(changedAt(target) + since + 400).toISOString() : undefined,
      ],
    ]
    if (method !== 'DELETE') given.push(['readOnly', names.readOnlyInput, toGraphNames(resource, sent)])
    if (method === 'DELETE') given.push(['strict', 'Boolean!', isStrict])
    if (method === 'PATCH') given.push(['patch', `${names.patchInput}!`, values])
    if (method === 'PUT') {
      const mayCreate = versions !== '*' && (hasId || unless === '*' || !resource.listed)
      given.push(['input', `${names.input}!`, values])
      given.push(['mayCreate', 'Boolean!', mayCreate])
    }
    const used = given.filter(([, , value]) => value !== undefined)
    const declared = used.map(([name, type]) => `$${name}: ${type}`).join(', ')
    const passed = used.map(([name]) => `${name}: $${name}`).join(', ')
    const shown = method === 'DELETE' ? '' : `${singular(resource)} { version }`
    const query = `mutation (${declared}) ${directive} { write: ${field}(${passed}) { outcome ${shown} } }`
    const variables = Object.fromEntries(used.map(([name, , value]) => [name, value]))
    const { data, errors } = await service().writer.graphql(query, variables)
    return errors?.[0]?.extensions.code ?? (data.write.outcome === 'CREATED' ? 'created' : 'done')
  }

const OTHERS = { asBatch, asMutation: asMutation(''), atomic: asMutation('@atomic') }

for (const resource of representatives) {
  test.serial(
    `${resource.path}: both faces decide all conditions alike, alone and in a transaction`,
    async (t) => {
      const codes = new Set<string>()
      const property = fc.asyncProperty(writes(resource), async (write) => {
        const expected = await outcomeOf(resource, write, asOneRequest)
        codes.add(expected.code)
        for (const [name, send] of Object.entries(OTHERS)) {
          deepStrictEqual(await outcomeOf(resource, write, send), expected, `${name} differs from a request`)
        }
      })
      const examples = { ...EXAMPLES, ...(resource.replaceable && EXAMPLES_OF_REPLACEABLE) }
      // A failure prints its seed. The examples are the first runs.
      await fc.assert(property, {
        numRuns: RUNS,
        includeErrorInReport: true,
        examples: Object.values(examples).map((write) => [write]),
      })
      for (const code of Object.keys(examples)) t.true(codes.has(code), code)
    },
  )
}

test('with a version and a date, GraphQL requires both, and REST only the version (RFC 9110 §13.2.2)', async (t) => {
  const { writer } = service()
  const create = async () => {
    const missions = resources.find(({ path }) => path === 'missions') as Resource
    return writer.post('/missions', await fixtures().minimalBody(missions))
  }
  const writeBy = async (field: string, condition: Json) => {
    const { id } = (await create()).body
    const given = `${field === 'put' ? 'input' : 'patch'}: { name: "Of ${id}" },`
    const query = `mutation ($id: ID!, $version: [Int!], $date: DateTime) {
      write: ${field}Mission(id: $id, ${field === 'delete' ? '' : given} ifVersion: $version, ifUnmodifiedSince: $date) { outcome }
    }`
    const { data, errors } = await writer.graphql(query, { id, ...condition })
    return errors?.[0].extensions.code ?? data.write.outcome
  }
  const [past, future] = [-60_000, 60_000].map((offset) => new Date(Date.now() + offset))
  for (const [field, outcome] of [
    ['put', 'REPLACED'],
    ['patch', 'REPLACED'],
    ['delete', 'DELETED'],
  ] as const) {
    t.is(await writeBy(field, { version: [1], date: future }), outcome)
    t.is(await writeBy(field, { version: [1], date: past }), 'CONCURRENT_MODIFICATION')
    t.is(await writeBy(field, { version: [2], date: future }), 'CONCURRENT_MODIFICATION')
  }
  const { headers } = await create()
  const dated = { 'If-Match': headers.get('etag') ?? '', 'If-Unmodified-Since': past?.toUTCString() ?? '' }
  t.is((await writer.delete(new URL(headers.get('location') ?? '').href, dated)).status, 204)
})
