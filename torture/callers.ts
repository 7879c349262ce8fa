import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { HttpConnection } from '../test/helpers/process/http-connection.ts'
import { PROCESS_TOKEN } from '../test/helpers/service/service-process.ts'
import { percentile } from './percentile.ts'

// Callers who ask for pages of a list over and over, in a process of their own.

/** How they ask. */
export interface Order {
  readonly origin: string
  readonly callers: number
  readonly seconds: number
  /** Requests a second that all callers together send; undefined: each sends the next one at once. */
  readonly rate?: number
}

/** What they were answered. */
export interface Answers {
  /** Requests a second that were served, and that were shed. */
  readonly served: number
  readonly shed: number
  /** Answered neither 200 nor 503 with Retry-After, or not at all. */
  readonly other: number
  /** In milliseconds, of what was served, from the moment at which it was to be sent. */
  readonly p50: number
  readonly p99: number
}

/** So many pages are asked for in turn: equal requests of one moment would share their statement. */
const PAGES = 50

/** Lets callers ask, and says what they were answered. */
export async function call(order: Order): Promise<Answers> {
  const child = fork(import.meta.filename)
  child.send(order)
  const [answers] = await once(child, 'message')
  return answers as Answers
}

process.on('message', async (order: Order) => {
  process.send?.(await run(order))
  process.disconnect?.()
})

async function run({ origin, callers, seconds, rate }: Order): Promise<Answers> {
  const { hostname, port, host } = new URL(origin)
  const headers = `Host: ${host}\r\nAuthorization: Bearer ${PROCESS_TOKEN}\r\n`
  const request = (page: number) => `GET /api/v1/species?page=${page}&limit=20 HTTP/1.1\r\n${headers}\r\n`
  let asked = 0
  const times: number[] = []
  const count = { served: 0, shed: 0, other: 0 }
  const connections = await Promise.all(
    Array.from({ length: callers }, () => HttpConnection.open(hostname, Number(port))),
  )
  const started = performance.now()
  const until = started + seconds * 1_000
  const interval = rate === undefined ? 0 : (callers / rate) * 1_000
  const converse = async (connection: HttpConnection, number: number) => {
    for (let due = started + (interval * number) / callers; due < until; due += interval) {
      const now = performance.now()
      if (due > now) await delay(due - now)
      const sent = interval === 0 ? now : Math.max(due, now - interval)
      if (sent >= until) break
      const status = await connection.exchange(request(1 + (asked++ % PAGES))).then(
        (answer) => answer.status,
        () => 0,
      )
      if (status === 200) {
        count.served++
        times.push(performance.now() - sent)
      } else if (status === 503) count.shed++
      else count.other++
      if (status === 0) break
      if (interval === 0) due = performance.now()
    }
    connection.close()
  }
  await Promise.all(connections.map(converse))
  const elapsed = (performance.now() - started) / 1_000
  return {
    served: Math.round(count.served / elapsed),
    shed: Math.round(count.shed / elapsed),
    other: count.other,
    p50: Math.round(percentile(times, 0.5)),
    p99: Math.round(percentile(times, 0.99)),
  }
}
