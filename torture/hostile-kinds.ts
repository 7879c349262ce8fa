import type { Sent } from '../test/helpers/load/load.ts'
import { IN_BODIES, IN_HEADERS, IN_TARGETS, IN_VARIABLES } from './long-texts.ts'
import { get, graphql, headers, post, TOKEN } from './requests.ts'

const repeated = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => part(index)).join(' ')

const aliases = (field: string, count = 30) => `{ ${repeated(count, (index) => `a${index}: ${field}`)} }`

/** A body with so many members that no resource has. */
const unknownMembers = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, 1]))

/** A list with so many conditions, none of which an index serves; its table is smaller than those that count as large. */
const conditions = (count: number) =>
  graphql('query ($filter: SpacecraftFilter) { spacecraftPage(filter: $filter) { totalCount } }', {
    filter: { or: Array.from({ length: count }, (_, index) => ({ name: { contains: `never ${index}` } })) },
  })

const FILTERED = 'query ($filter: SpeciesFilter) { speciesAggregate(filter: $filter) { groups { count } } }'
const LONG_PAGE = 'missionPage(limit: 100) { items { id objective } }'
const SCHEMA_TYPES = `__schema { types { ...type fields { args { type { ...type } } type { ...type } } inputFields { type { ...type } } } }`
const TYPE =
  'fragment type on __Type { name kind description ofType { name ofType { name ofType { name } } } }'

const LISTS = Array.from({ length: 50 }, (_, index) => get(`species?page=${index + 1}`))

/** Names that no earlier run has used. */
const newSpecies = (number: number) =>
  post({ scientific_name: `New ${process.pid} ${number}`, habitat: 'cave' })

/** As many creations as a batch may have. */
const BATCH: Sent = {
  method: 'POST',
  path: '/api/v1/batch',
  body: {
    operations: Array(100).fill({
      method: 'POST',
      path: '/missions/m1/data',
      body: { instrument: 'Probe', recorded_at: '2031-01-01T00:00:00Z', quantity: 'depth', value: 1 },
    }),
  },
  headers,
}

const FIELDS = [
  'scientific_name',
  'common_name',
  'habitat',
  'intelligence_level',
  'discovery_status',
  'last_updated',
]

/** Another list of fields for each number. */
const fieldsOf = (number: number) =>
  Array.from({ length: 8 }, (_, digit) => FIELDS[Math.floor(number / 6 ** digit) % 6]).join()

/** What a caller of one kind does. */
export interface Kind {
  readonly connections: number
  /** Between two requests on a connection, in milliseconds. */
  readonly pause?: number
  /** How many requests a connection sends at once, without waiting for responses. */
  readonly pipelined?: number
  /** The table that another transaction holds locked meanwhile. */
  readonly locked?: string
  /** In turn. */
  readonly requests: readonly (Sent | ((number: number) => Sent))[]
}

/** Callers who ask for too much, each in one way. */
export const KINDS = {
  'wrong values in a variable': {
    connections: 1,
    requests: [graphql(FILTERED, { filter: { and: Array(170_000).fill(5) } })],
  },
  'empty conditions in a variable': {
    connections: 1,
    requests: [graphql(FILTERED, { filter: { and: Array(110_000).fill({}) } })],
  },
  'long texts under thirty aliases': { connections: 8, requests: [graphql(aliases(LONG_PAGE))] },
  'as many long texts as are allowed': {
    connections: 8,
    requests: [graphql(`{ a: ${LONG_PAGE} b: ${LONG_PAGE} c: ${LONG_PAGE} d: ${LONG_PAGE} }`)],
  },
  'responses that are not read': { connections: 0, requests: [] },
  '80,000 unknown members': { connections: 1, requests: [post(unknownMembers(80_000))] },
  'thirty aggregates of a large table': {
    connections: 1,
    requests: [graphql(aliases('speciesAggregate(groupBy: [HABITAT]) { groups { count } }'))],
  },
  'as many aggregates as are allowed': {
    connections: 16,
    requests: [
      graphql(
        '{ a: speciesAggregate(groupBy: [HABITAT]) { groups { count } } b: speciesAggregate(groupBy: [INTELLIGENCE_LEVEL]) { groups { count } } }',
      ),
    ],
  },
  'filters that no index serves': {
    connections: 32,
    requests: [get('species?filter=common_name[contains]:never'), get('species?sort=last_updated:desc')],
  },
  'deletion of a parent of 300,000': {
    connections: 1,
    requests: [{ method: 'DELETE', path: '/api/v1/planets/crowded', headers }],
  },
  'POSTs on 64 connections': { connections: 64, pause: 0, requests: [newSpecies] },
  'lists on 64 connections': { connections: 64, pause: 0, requests: LISTS },
  'lists on 200 connections': { connections: 200, pause: 0, requests: LISTS },
  'single resources on 64 connections': {
    connections: 64,
    pause: 0,
    requests: [get('species/s1'), get('species/s2')],
  },
  'a locked table': {
    connections: 32,
    locked: 'planets',
    requests: [get('planets'), get('planets/p1'), graphql(aliases('planetPage { items { id } }', 20))],
  },
  '900 conditions': { connections: 16, requests: [conditions(900)] },
  '100 conditions': { connections: 16, requests: [conditions(100)] },
  'introspection under eight aliases': {
    connections: 8,
    requests: [graphql(`${aliases(SCHEMA_TYPES, 8)} ${TYPE}`)],
  },
  introspection: { connections: 8, requests: [graphql(`{ ${SCHEMA_TYPES} } ${TYPE}`)] },
  'refused bodies of 1 MB': {
    connections: 4,
    requests: [post({ scientific_name: 'x'.repeat(1_000_000) })],
  },
  '9,000 unknown members': { connections: 4, requests: [post(unknownMembers(9_000))] },
  '900 unknown GraphQL fields': {
    connections: 4,
    requests: [graphql(`{ ${repeated(900, (index) => `unknown${index}`)} }`)],
  },
  'requests without a token': {
    connections: 64,
    pause: 0,
    requests: [{ ...get('species'), headers: { authorization: '' } }],
  },
  'requests with forged tokens': {
    connections: 64,
    pause: 0,
    requests: [(number) => ({ ...get('species'), headers: { authorization: `Bearer ${TOKEN}${number}` } })],
  },
  'batches of 100 creations': { connections: 16, pause: 0, requests: [BATCH] },
  'pages of 100 with embedded lists': {
    connections: 16,
    pause: 0,
    requests: [get('missions?limit=100&embed=data'), get('planets?limit=100&embed=species')],
  },
  'searches that find nothing': {
    connections: 16,
    requests: [get('species?q=never'), get('species?filter=common_name[icontains]:ne')],
  },
  'compressed pages of long texts': {
    connections: 16,
    requests: [get('missions?limit=100', { 'accept-encoding': 'br' })],
  },
  'event streams on 200 connections': {
    connections: 200,
    requests: [get('changes?limit=100', { accept: 'text/event-stream' })],
  },
  'long texts in parameters': { connections: 4, pause: 0, requests: IN_TARGETS },
  'long texts in headers': { connections: 4, pause: 0, requests: IN_HEADERS },
  'long texts in bodies': { connections: 4, requests: IN_BODIES },
  'long texts in variables': { connections: 4, requests: IN_VARIABLES },
  '4,900 unknown members of a variable': {
    connections: 4,
    requests: [graphql(FILTERED, { filter: unknownMembers(4_900) })],
  },
  'a sort named hundreds of times': {
    connections: 8,
    pause: 0,
    requests: [get(`species?sort=${Array(900).fill('habitat:asc').join()}`)],
  },
  'hundreds of unknown parameters': {
    connections: 8,
    pause: 0,
    requests: [get(`species?${Array.from({ length: 1_500 }, (_, index) => `p${index}=1`).join('&')}`)],
  },
  'a new list of fields each time': {
    connections: 8,
    pause: 0,
    requests: [(number) => get(`species?limit=1&fields=${fieldsOf(number)}`)],
  },
  'a new document of 2,000 tokens each time': {
    connections: 8,
    pause: 0,
    requests: Array.from({ length: 100 }, (_, index) =>
      graphql(`{ ${repeated(180, () => `speciesPage(page: ${index + 1}) { page }`)} }`),
    ),
  },
  'pipelined requests': { connections: 4, pipelined: 100, pause: 0, requests: [get('species/s1')] },
} satisfies Record<string, Kind>
