import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { Sent } from '../test/helpers/load/load.ts'
import { processToken } from '../test/helpers/service/service-process.ts'

// A caller who asks for too much in one way.

/** Whether wrk (Debian package `wrk`), which sends the requests, is installed. */
export function hasWrk(): Promise<boolean> {
  return new Promise((resolve) => {
    execFile('wrk', ['-v'], (error) => resolve(error?.code !== 'ENOENT'))
  })
}

const TOKEN = processToken('hostile')
const headers = { authorization: `Bearer ${TOKEN}` }

const graphql = (query: string, variables?: object): Sent => ({
  method: 'POST',
  path: '/graphql',
  body: { query, ...(variables && { variables }) },
  headers,
})

const get = (path: string): Sent => ({ method: 'GET', path: `/api/v1/${path}`, headers })
const post = (body: object): Sent => ({ method: 'POST', path: '/api/v1/species', body, headers })

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

/** What a caller of one kind does. */
interface Kind {
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

/** So that a machine is not simply busy with what is expensive to send, too. */
const PAUSE_MILLISECONDS = 50

const KINDS = {
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
  'pipelined requests': { connections: 4, pipelined: 100, pause: 0, requests: [get('species/s1')] },
} satisfies Record<string, Kind>

export const ATTACKS = Object.keys(KINDS) as readonly (keyof typeof KINDS)[]

/** The table that another transaction must hold locked while a caller of this kind attacks. */
export function lockedTable(kind: keyof typeof KINDS): string | undefined {
  return (KINDS[kind] as Kind).locked
}

/** What one caller does to a service. */
export interface Attack {
  readonly origin: string
  readonly kind: keyof typeof KINDS
  readonly seconds: number
}

/** Lets the caller do its worst, and says how it was answered. */
export async function attack({ origin, kind, seconds }: Attack): Promise<string> {
  const { connections, ...requests }: Kind = KINDS[kind]
  if (connections > 0) return flood(origin, connections, seconds, scriptOf(requests))
  const sockets = Array.from({ length: 60 }, () => openUnread(origin))
  await delay(seconds * 1_000)
  for (const socket of sockets) socket.destroy()
  return `${sockets.length} unread`
}

/** Sends requests with wrk, which takes little of the processor's time: a caller has a machine of its own. */
async function flood(origin: string, connections: number, seconds: number, script: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hg-'))
  const file = join(folder, 'requests.lua')
  await writeFile(file, script)
  const child = spawn('wrk', [
    '-t1',
    `-c${connections}`,
    `-d${seconds}`,
    '--timeout',
    '30s',
    '-s',
    file,
    origin,
  ])
  await once(child, 'spawn')
  setPriority(child.pid as number, 19)
  const output = await text(child.stdout)
  await rm(folder, { recursive: true })
  const count = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? 0)
  const [all, refused] = [count(/(\d+) requests in/), count(/Non-2xx or 3xx responses: (\d+)/)]
  return `${all} answered, ${refused} of them refused`
}

/** Different requests of a kind that makes them; more than are sent. */
const MADE_REQUESTS = 10_000

/** The script of wrk that sends these requests in turn. */
function scriptOf({
  requests,
  pause = PAUSE_MILLISECONDS,
  pipelined = 1,
}: Omit<Kind, 'connections'>): string {
  const made = requests.flatMap((request) =>
    typeof request === 'function'
      ? Array.from({ length: MADE_REQUESTS }, (_, number) => request(number))
      : request,
  )
  return `local requests = {}
${made.map((sent) => `requests[#requests + 1] = ${lua(requestText(sent).repeat(pipelined))}`).join('\n')}
local number = 0
function request() number = number % #requests + 1 return requests[number] end
${pause > 0 ? `function delay() return ${pause} end` : ''}`
}

function requestText({ method, path, body, headers }: Sent): string {
  const content = body === undefined ? '' : JSON.stringify(body)
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: x',
    ...Object.entries({ 'content-type': 'application/json', ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    ),
    `Content-Length: ${Buffer.byteLength(content)}`,
  ]
  return `${lines.join('\r\n')}\r\n\r\n${content}`
}

/** A text as a literal of Lua, whose escapes are those of JSON where they matter here. */
function lua(value: string): string {
  return `"${value.replace(/[\\"]/g, '\\$&').replaceAll('\r', '\\r').replaceAll('\n', '\\n')}"`
}

function openUnread(origin: string): Socket {
  const { hostname, port } = new URL(origin)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  socket.write(requestText(get('missions?limit=100')))
  return socket
}
