import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import { setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { type Sent, send } from '../test/helpers/load.ts'
import { processToken } from '../test/helpers/service-process.ts'

// A caller who asks for too much in one way, in a process of its own.

export interface Attack {
  readonly origin: string
  readonly kind: keyof typeof KINDS
  readonly seconds: number
}

/** How often each status was answered; `lost` for connections that ended without an answer. */
export type Answers = Readonly<Record<string, number>>

const TOKEN = processToken('hostile')
const headers = { authorization: `Bearer ${TOKEN}` }

const graphql = (query: string, variables?: object): Sent => ({
  method: 'POST',
  path: '/graphql',
  body: { query, ...(variables && { variables }) },
  headers,
})

const aliases = (field: string) =>
  `{ ${Array.from({ length: 30 }, (_, index) => `a${index}: ${field}`).join(' ')} }`

const FILTERED = 'query ($filter: SpeciesFilter) { speciesAggregate(filter: $filter) { groups { count } } }'
const LONG_PAGE = 'missionPage(limit: 100) { items { id objective } }'

/** Between two requests on a connection. To send as much as a machine can is another thing, see overload.ts. */
const PAUSE_MILLISECONDS = 50

/** The requests of each kind, and on how many connections they are sent. */
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
  'a body of unknown members': {
    connections: 1,
    requests: [
      {
        method: 'POST',
        path: '/api/v1/species',
        body: Object.fromEntries(Array.from({ length: 80_000 }, (_, index) => [`m${index}`, 1])),
        headers,
      },
    ],
  },
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
    requests: [
      { method: 'GET', path: '/api/v1/species?filter=common_name[contains]:never', headers },
      { method: 'GET', path: '/api/v1/species?sort=last_updated:desc', headers },
    ],
  },
  'deletion of a parent of 300,000': {
    connections: 1,
    requests: [{ method: 'DELETE', path: '/api/v1/planets/crowded', headers }],
  },
} satisfies Record<string, { connections: number; requests: Sent[] }>

export const ATTACKS = Object.keys(KINDS) as readonly (keyof typeof KINDS)[]

/** Lets the caller do its worst, and says how it was answered. */
export async function attack(order: Attack): Promise<Answers> {
  const child = fork(import.meta.filename)
  child.send(order)
  const [answers] = await once(child, 'message')
  return answers as Answers
}

// A caller has a machine of its own; what it does there must not take time from the service.
process.on('message', async (order: Attack) => {
  setPriority(19)
  process.send?.(await run(order))
  process.disconnect?.()
})

async function run({ origin, kind, seconds }: Attack): Promise<Answers> {
  const { connections, requests } = KINDS[kind]
  const answers: Record<string, number> = {}
  if (connections === 0) {
    const sockets = Array.from({ length: 60 }, () => openUnread(origin))
    await delay(seconds * 1_000)
    for (const socket of sockets) socket.destroy()
    return { unread: sockets.length }
  }
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const until = performance.now() + seconds * 1_000
  const converse = async (_: unknown, connection: number) => {
    for (let number = connection; performance.now() < until; number++) {
      const outcome = await send(origin, requests[number % requests.length] as Sent, agent)
      const status = outcome.kind === 'answered' ? String(outcome.status) : 'lost'
      answers[status] = (answers[status] ?? 0) + 1
      await delay(PAUSE_MILLISECONDS)
    }
  }
  await Promise.all(Array.from({ length: connections }, converse))
  agent.destroy()
  return answers
}

function openUnread(origin: string) {
  const { hostname, port } = new URL(origin)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  socket.write(`GET /api/v1/missions?limit=100 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`)
  return socket
}
