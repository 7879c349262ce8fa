import { createHistogram } from 'node:perf_hooks'
import { HttpConnection } from '../test/helpers/process/http-connection.ts'
import { type Connection, scenarios, written } from './scenarios.ts'

// The load generator, in a process of its own: takes orders from its parent and answers with what it saw.

/** One order: load this address in this way. */
export interface Order {
  readonly scenario: string
  readonly origin: string
  readonly token: string
  readonly connections: number
  readonly seconds: number
  /** How many rows the database was filled with. */
  readonly rows: number
}

/** What was seen. Latencies are in milliseconds. */
export interface Seen {
  readonly requests: number
  readonly requestsPerSecond: number
  readonly p50: number
  readonly p99: number
  /** Answers with another status than the scenario's. */
  readonly failures: number
}

process.on('message', async (order: Order) => process.send?.(await load(order)))
process.on('disconnect', () => process.exit())

async function load(order: Order): Promise<Seen> {
  const scenario = scenarios.find(({ name }) => name === order.scenario)
  if (!scenario) throw new Error(`There is no scenario ${order.scenario}`)
  const { hostname, port, host } = new URL(order.origin)
  const shared = `Host: ${host}\r\nAuthorization: Bearer ${order.token}\r\n`
  const latencies = createHistogram()
  let answers = 0
  let failures = 0
  let until = Number.POSITIVE_INFINITY

  async function converse(number: number): Promise<void> {
    const http = await HttpConnection.open(hostname, Number(port))
    const state: Connection = { number, count: 0, entityTag: undefined }
    if (scenario?.first)
      state.entityTag = (await http.exchange(written(scenario.first(state), shared))).entityTag
    while (performance.now() < until) {
      const start = performance.now()
      const answer = await http.exchange(
        written((scenario as (typeof scenarios)[0]).next(state, order.rows), shared),
      )
      latencies.record(Math.max(1, Math.round((performance.now() - start) * 1000)))
      answers++
      state.count++
      state.entityTag = answer.entityTag ?? state.entityTag
      if (answer.status !== scenario?.status && !(scenario?.name === 'mixed' && answer.status < 300))
        failures++
    }
    http.close()
  }

  const start = performance.now()
  until = start + order.seconds * 1000
  await Promise.all(Array.from({ length: order.connections }, (_, number) => converse(number)))
  const elapsed = (performance.now() - start) / 1000
  return {
    requests: answers,
    requestsPerSecond: answers / elapsed,
    p50: latencies.percentile(50) / 1000,
    p99: latencies.percentile(99) / 1000,
    failures,
  }
}
