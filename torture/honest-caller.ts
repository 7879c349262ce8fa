import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { send } from '../test/helpers/load/load.ts'
import { processToken } from '../test/helpers/service/service-process.ts'
import { percentile } from './percentile.ts'

// A caller who reads one resource after the other, in a process of its own, so that nothing but the service delays it.

/** So many connections, and the time between two requests on each. */
const CONNECTIONS = 8
const PAUSE_MILLISECONDS = 10

interface Order {
  readonly origin: string
  readonly seconds: number
}

/** How the service answered; times in milliseconds. */
export interface Reading {
  readonly count: number
  readonly failed: number
  readonly median: number
  readonly p99: number
}

/** Lets the caller read for some seconds. */
export async function read(origin: string, seconds: number): Promise<Reading> {
  const child = fork(import.meta.filename)
  child.send({ origin, seconds } satisfies Order)
  const [reading] = await once(child, 'message')
  return reading as Reading
}

process.on('message', async (order: Order) => {
  process.send?.(await run(order))
  process.disconnect?.()
})

async function run({ origin, seconds }: Order): Promise<Reading> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const headers = { authorization: `Bearer ${processToken('honest')}` }
  const until = performance.now() + seconds * 1_000
  const times: number[] = []
  let failed = 0
  const converse = async (_: unknown, connection: number) => {
    for (let number = connection; performance.now() < until; number += CONNECTIONS) {
      const started = performance.now()
      const path = `/api/v1/species/s${1 + (number % 1_000)}`
      const outcome = await send(origin, { method: 'GET', path, headers }, agent)
      times.push(performance.now() - started)
      if (outcome.kind !== 'answered' || outcome.status !== 200) failed++
      await delay(PAUSE_MILLISECONDS)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, converse))
  agent.destroy()
  return { count: times.length, failed, median: percentile(times, 0.5), p99: percentile(times, 0.99) }
}
