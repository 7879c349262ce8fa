import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { PROCESS_TOKEN } from '../service/service-process.ts'
import { type Outcome, type Sent, send } from './load.ts'

const READERS = 3
const CREATORS = 2
const CHANGERS = 2

/** What readers ask for in turn. */
const PATHS = ['/species/changed-0', '/species?limit=5&sort=last_updated:desc', '/species?filter=habitat:h1']

/** Between two requests of a client. */
const PAUSE_MILLISECONDS = 5

/** A version of a resource, as in `a 2`. */
type Version = string

/** What clients of a service have seen of it. */
export interface Observed {
  /** Requests and streams that did not end as they should. */
  readonly failures: string[]
  /** The number of responses by method. */
  readonly responses: Record<string, number>
  /** What writes were told that they have written. */
  readonly acknowledged: Version[]
  /** The events of the feed, in their order. */
  readonly events: Version[]
  /** The number of connections of the event stream. */
  streams: number
}

/** How long the stream may take for the events of the last writes. */
const LAST_EVENTS_MILLISECONDS = 10_000

/**
 * Lets clients read single resources and lists, create, change conditionally, and follow the event stream, until the signal
 * is aborted, and the stream until it has had the events of all writes.
 */
export async function runRollingLoad(origin: string, signal: AbortSignal): Promise<Observed> {
  const observed: Observed = { failures: [], responses: {}, acknowledged: [], events: [], streams: 0 }
  const { failures, responses, acknowledged, events } = observed
  const agent = new Agent({ keepAlive: true })
  const ask = async (sent: Sent, status: number) => {
    const outcome = await send(origin, { ...sent, path: `/api/v1${sent.path}` }, agent)
    responses[sent.method] = (responses[sent.method] ?? 0) + 1
    if (outcome.kind === 'answered' && outcome.status === status) return outcome
    failures.push(`${sent.method} ${sent.path}: ${describe(outcome)}`)
    return undefined
  }
  const create = async (name: string) => {
    const created = await ask({ method: 'POST', path: '/species', body: { scientific_name: name } }, 201)
    if (created) acknowledged.push(`${JSON.parse(created.body).id} 1`)
  }
  const write = async (sent: Sent, status: number, version: Version) => {
    if (await ask(sent, status)) acknowledged.push(version)
  }
  const change = (client: number, round: number) => {
    const [id, version] = [`changed-${client}`, round + 1]
    const headers = { 'if-match': `"${id}:${version}"`, 'content-type': 'application/merge-patch+json' }
    const sent = { method: 'PATCH', path: `/species/${id}`, body: { habitat: `h${round}` }, headers }
    return write(sent, 204, `${id} ${version + 1}`)
  }
  const read = (client: number, round: number) =>
    ask({ method: 'GET', path: PATHS[(client + round) % PATHS.length] as string }, 200)
  const end = await ask({ method: 'GET', path: '/changes?since=now' }, 200)
  const position = new URL(JSON.parse(end?.body ?? '')._links.next.href).searchParams.get('since') as string
  const leaving = new AbortController()
  const following = followEvents(origin, position, observed, leaving.signal)
  for (let client = 0; client < CHANGERS; client++) {
    const body = { id: `changed-${client}`, scientific_name: `Changed ${client}` }
    await write({ method: 'PUT', path: `/species/${body.id}`, body }, 201, `${body.id} 1`)
  }
  await Promise.all([
    repeat(READERS, signal, read),
    repeat(CREATORS, signal, (client, round) => create(`Created ${client} ${round}`)),
    repeat(CHANGERS, signal, change),
  ])
  const until = performance.now() + LAST_EVENTS_MILLISECONDS
  while (events.length < acknowledged.length && performance.now() < until) await delay(PAUSE_MILLISECONDS)
  leaving.abort()
  await following
  agent.destroy()
  return observed
}

/** Lets so many clients work until the signal is aborted. */
async function repeat(
  clients: number,
  signal: AbortSignal,
  work: (client: number, round: number) => Promise<unknown>,
): Promise<void> {
  const run = async (client: number) => {
    for (let round = 0; !signal.aborted; round++) {
      await work(client, round)
      await delay(PAUSE_MILLISECONDS)
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => run(client)))
}

/** Follows the stream, and connects again when it ends, from its last event. */
async function followEvents(
  origin: string,
  begin: string,
  observed: Observed,
  leaving: AbortSignal,
): Promise<void> {
  const { failures, events } = observed
  let last = begin
  while (!leaving.aborted) {
    observed.streams++
    try {
      const headers = { authorization: `Bearer ${PROCESS_TOKEN}`, accept: 'text/event-stream' }
      const request = { headers: { ...headers, 'last-event-id': last }, signal: leaving }
      const { status, body } = await fetch(`${origin}/api/v1/changes`, request)
      if (status !== 200) failures.push(`stream: ${status}`)
      let text = ''
      for await (const chunk of body as ReadableStream<Uint8Array>) {
        const blocks = (text + Buffer.from(chunk)).split('\n\n')
        text = blocks.pop() as string
        for (const block of blocks) {
          const isChange = !/^event: position$/m.test(block)
          const data = isChange ? /^data: (.*)$/m.exec(block)?.[1] : undefined
          const { id, version } = JSON.parse(data ?? '{}')
          if (data !== undefined) events.push(`${id} ${version}`)
          last = /^id: (.*)$/m.exec(block)?.[1] ?? last
        }
      }
    } catch (error) {
      if (!leaving.aborted) failures.push(`stream: ${error}`)
    }
  }
}

function describe(outcome: Outcome): string {
  if (outcome.kind === 'lost') return `no response (${outcome.reason})`
  return outcome.kind === 'refused' ? 'no connection' : `${outcome.status} ${outcome.body.slice(0, 200)}`
}
