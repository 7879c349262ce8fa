import { fork } from 'node:child_process'
import { once, setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { processToken } from '../../test/helpers/service/service-process.ts'
import { readStream } from './consumers.ts'

// Subscribers of the event stream, each on a connection of its own, in a process of their own.

/** Streams that one caller may have in one process of the service. */
const OF_CALLER = 100

/** As browsers do, with a random part. */
const RETRY_MILLISECONDS = 3_000

/** Streams that a process opens each second, and how long it waits for the last of them. */
const OPENED_PER_SECOND = 50
const OPEN_MILLISECONDS = 40_000
const CATCH_UP_MILLISECONDS = 20_000

interface Order {
  readonly origin: string
  readonly count: number
}

/** What subscribers have seen. */
export interface Received {
  /** For each change, from its acknowledgement until an event told of it, in milliseconds. */
  readonly delays: readonly number[]
  /** Connections that the service ended or refused. */
  readonly interruptions: number
  /** Subscribers whose stream never began. */
  readonly unopened: number
}

export interface Subscribers {
  /**
   * Ends the streams once each has the last change.
   *
   * @param acknowledged when each numbered change was acknowledged, in milliseconds since the epoch
   */
  end(acknowledged: readonly number[]): Promise<Received>
}

/** In place of the time of an acknowledgement. */
export const REFUSED = 0

/** Now, in milliseconds since the epoch, with fractions. */
export const now = () => performance.timeOrigin + performance.now()

/** Resolves when each subscriber has its stream, or has tried for long. */
export async function subscribe(order: Order): Promise<Subscribers> {
  const child = fork(import.meta.filename)
  child.send(order)
  await once(child, 'message')
  return {
    async end(acknowledged) {
      child.send(acknowledged)
      const exited = once(child, 'exit').then(() =>
        Promise.reject(new Error('The subscribers exited early.')),
      )
      const [received] = await Promise.race([once(child, 'message'), exited])
      return received as Received
    },
  }
}

/** A child that was forked for it. */
if (process.argv[1] === import.meta.filename && process.send) {
  process.once('message', async (order: Order) => {
    process.once('disconnect', () => process.exit())
    const received = new Map<number, number[]>()
    const leaving = new AbortController()
    setMaxListeners(order.count + 1, leaving.signal)
    const counts = { interruptions: 0, open: 0 }
    const streams = Array.from({ length: order.count }, async (_, index) => {
      await delay((index * 1_000) / OPENED_PER_SECOND)
      await follow(order.origin, index, { received, leaving: leaving.signal, counts })
    })
    const openUntil = performance.now() + OPEN_MILLISECONDS
    while (counts.open < order.count && performance.now() < openUntil) await delay(20)
    const unopened = order.count - counts.open
    counts.interruptions = 0
    process.send?.('open')
    const [acknowledged] = (await once(process, 'message')) as [number[]]
    const last = acknowledged.findLastIndex((time) => time !== REFUSED)
    const until = performance.now() + CATCH_UP_MILLISECONDS
    while ((received.get(last)?.length ?? 0) < order.count && performance.now() < until) await delay(50)
    leaving.abort()
    await Promise.all(streams)
    const delays = acknowledged.flatMap((time, number) =>
      time === REFUSED ? [] : (received.get(number) ?? []).map((at) => Math.round((at - time) * 10) / 10),
    )
    const result = { delays, interruptions: counts.interruptions, unopened } satisfies Received
    process.send?.(result, () => process.disconnect?.())
  })
}

interface State {
  readonly received: Map<number, number[]>
  readonly leaving: AbortSignal
  readonly counts: { interruptions: number; open: number }
}

async function follow(origin: string, index: number, { received, leaving, counts }: State): Promise<void> {
  const token = processToken(`subscriber ${Math.floor(index / OF_CALLER)} of ${process.pid}`)
  let position = 'now'
  while (!leaving.aborted) {
    const path = `/api/v1/changes?collection=planets&since=${position}`
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' }
    await readStream(origin, { method: 'GET', path, headers }, leaving, ({ id, data }) => {
      if (id === undefined) return
      if (position === 'now') counts.open++
      position = id
      const number = data && /"name":"Number (\d+)"/.exec(data)?.[1]
      if (!number) return
      const times = received.get(Number(number)) ?? []
      times.push(now())
      received.set(Number(number), times)
    })
    if (leaving.aborted) return
    counts.interruptions++
    await delay(RETRY_MILLISECONDS * (0.5 + Math.random()))
  }
}
