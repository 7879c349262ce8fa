import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { type Sent, send } from '../../test/helpers/load/load.ts'
import { PROCESS_TOKEN } from '../../test/helpers/service/service-process.ts'
import type { Change } from './ledger.ts'

/** A consumer of the feed: where it is, and everything that it has seen. */
export interface Consumer {
  readonly name: string
  position: string
  /** A page of REST has one cursor for all its changes. */
  readonly seen: { readonly cursor: string | undefined; readonly change: Change }[]
  /** How often it had to connect again, or did so. */
  connections: number
}

/** The service that a consumer asks next. */
export type NextOrigin = () => string

type Follow = (consumer: Consumer, origin: NextOrigin, signal: AbortSignal) => Promise<void>

// biome-ignore lint/suspicious/noExplicitAny: as parsed
type Json = any

const RETRY_MILLISECONDS = 50

/** A stream lives for at most so long before its consumer leaves it. */
const STREAM_MILLISECONDS = 3_000

function add({ seen }: Consumer, { cursor, collection, id, version, event, ...change }: Json): void {
  const parent = change.parent_id ?? change.parentId ?? ''
  seen.push({
    cursor,
    change: `${collection}/${parent}/${id} ${version} ${event.toLowerCase()}` as Change,
  })
}

const followPages: Follow = async (consumer, origin, signal) => {
  while (!signal.aborted) {
    const outcome = await send(origin(), {
      method: 'GET',
      path: `/api/v1/changes?since=${consumer.position}&limit=50`,
      headers: { prefer: 'wait=5' },
    })
    if (outcome.kind === 'answered' && outcome.status === 200) {
      const { _embedded, _links } = JSON.parse(outcome.body)
      for (const change of _embedded.changes) add(consumer, change)
      consumer.position = new URL(_links.next.href).searchParams.get('since') as string
    } else {
      consumer.connections++
      refuse(consumer, outcome.kind === 'answered' ? outcome.status : 503)
      await delay(RETRY_MILLISECONDS)
    }
  }
}

const followEvents: Follow = (consumer, origin, signal) =>
  followStream(consumer, origin, signal, {
    sent: () => ({
      method: 'GET',
      path: '/api/v1/changes?limit=100',
      headers: { accept: 'text/event-stream', 'last-event-id': consumer.position },
    }),
    block: ({ id, event, data }) => {
      if (data !== undefined && event !== 'position') add(consumer, { cursor: id, ...JSON.parse(data) })
      if (id !== undefined) consumer.position = id
    },
  })

const SUBSCRIPTION = `subscription ($since: String) {
  changes(since: $since) { cursor collection id parentId version event }
}`

const followSubscription: Follow = (consumer, origin, signal) =>
  followStream(consumer, origin, signal, {
    sent: () => ({
      method: 'POST',
      path: '/graphql',
      headers: { accept: 'text/event-stream' },
      body: { query: SUBSCRIPTION, variables: { since: consumer.position } },
    }),
    block: ({ event, data }) => {
      if (event !== 'next' || data === undefined) return
      const result = JSON.parse(data)
      const code = result.errors?.[0].extensions.code
      if (code !== undefined) return refuse(consumer, code === 'SERVICE_UNAVAILABLE' ? 503 : code)
      add(consumer, result.data.changes)
      consumer.position = result.data.changes.cursor
    },
  })

export const CONSUMERS: Readonly<Record<string, Follow>> = {
  'pages, wait=5': followPages,
  'event stream': followEvents,
  subscription: followSubscription,
}

/** @throws unless the service was out of reach, or stopped */
function refuse({ name }: Consumer, status: number | string): void {
  if (status !== 503) throw new Error(`${name}: ${status}`)
}

export type Block = Readonly<Partial<Record<string, string>>>

interface Stream {
  readonly sent: () => Sent
  readonly block: (block: Block) => void
}

async function followStream(
  consumer: Consumer,
  origin: NextOrigin,
  signal: AbortSignal,
  { sent, block }: Stream,
): Promise<void> {
  while (!signal.aborted) {
    // Not of AbortSignal.timeout and any, which can be collected as garbage and then never fire (Node 20).
    const leaving = new AbortController()
    const leave = () => leaving.abort()
    const timer = setTimeout(leave, Math.random() * STREAM_MILLISECONDS)
    signal.addEventListener('abort', leave)
    consumer.connections++
    const status = await readStream(origin(), sent(), leaving.signal, block)
    clearTimeout(timer)
    signal.removeEventListener('abort', leave)
    if (status !== 200) refuse(consumer, status)
    if (!leaving.signal.aborted) await delay(RETRY_MILLISECONDS)
  }
}

/** Reads a stream of events until it ends, or is left. Resolves to the status, 503 for none. */
export function readStream(
  origin: string,
  { method, path, headers, body }: Sent,
  leaving: AbortSignal,
  heard: (block: Block) => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let status = 503
    const content = body && { 'content-type': 'application/json' }
    const sending = request(`${origin}${path}`, {
      method,
      agent: false,
      headers: { authorization: `Bearer ${PROCESS_TOKEN}`, ...content, ...headers },
    })
    const leave = () => sending.destroy()
    leaving.addEventListener('abort', leave)
    sending.on('error', () => {})
    sending.on('close', () => {
      leaving.removeEventListener('abort', leave)
      resolve(status)
    })
    sending.on('response', (response) => {
      status = response.statusCode ?? 503
      let text = ''
      response.on('error', () => {})
      response.setEncoding('utf8').on('data', (chunk: string) => {
        const blocks = (text + chunk).split('\n\n')
        text = blocks.pop() as string
        try {
          if (status === 200 && !leaving.aborted) for (const block of blocks) heard(parse(block))
        } catch (error) {
          reject(error)
          sending.destroy()
        }
      })
    })
    sending.end(body && JSON.stringify(body))
  })
}

function parse(block: string): Block {
  return Object.fromEntries(
    block.split('\n').map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).trimStart()]
    }),
  )
}
