import { connect } from 'node:net'
import { createEmbedded } from '../test/helpers/database/database.ts'
import { send } from '../test/helpers/load/load.ts'
import { PROCESS_TOKEN, startProcess } from '../test/helpers/service/service-process.ts'
import { memory } from './memory.ts'
import { withOwner } from './owner.ts'
import { percentile } from './percentile.ts'

const CLOSED_MILLISECONDS = 15_000

const HEAD = `Host: x\r\nAuthorization: Bearer ${PROCESS_TOKEN}\r\n`
const KINDS = {
  'slow headers': {
    first: 'GET /api/v1/species HTTP/1.1\r\n',
    next: (n: number) => `X-${n}: y\r\n`,
    reads: true,
  },
  'slow body': {
    first: `POST /api/v1/species HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\nContent-Length: 9999\r\n\r\n`,
    next: () => ' ',
    reads: true,
  },
  'slow read': {
    first: `GET /api/v1/species?limit=100 HTTP/1.1\r\n${HEAD}\r\n`,
    next: () => '',
    reads: false,
  },
  silence: { first: '', next: () => '', reads: true },
}

/** A page of so many, each as long as may be, is more than the buffers beneath the service take. */
const PAGE = 100
const LONGEST = 500

/** Opens connections that dawdle in every way: others do not notice, and the slow ones are closed. */
export async function run(connections = 1_000): Promise<string[]> {
  return withOwner(async (owner) => {
    const { dataDir } = await createEmbedded(owner)
    const service = startProcess({ DATA_DIR: dataDir, LOG_LEVEL: 'info', CALLER_SHARE: undefined }, owner)
    const origin = await service.origin
    await createLargeSpecies(origin)
    await sample(origin, 200)
    const normal = percentile(await sample(origin, 500), 0.99)
    const broken: string[] = []
    for (const [name, kind] of Object.entries(KINDS)) {
      const slow = openSlow(Number(new URL(origin).port), connections, kind)
      const times = await sample(origin, 500)
      const held = await memory(service)
      const lives = await slow
      const p99 = percentile(times, 0.99)
      const longest = Math.max(...lives)
      console.log(
        `${name}: ${connections} connections, longest ${Math.round(longest)} ms; p99 of others ${p99.toFixed(1)} ms (normally ${normal.toFixed(1)} ms), ${held} MB resident`,
      )
      if (longest > CLOSED_MILLISECONDS) broken.push(`${name}: one lived for ${Math.round(longest)} ms`)
      if (p99 > 2 * normal) broken.push(`${name}: p99 of others ${p99.toFixed(1)} ms`)
    }
    return broken
  })
}

/** Resolves to how long each was let live, in milliseconds. */
function openSlow(
  port: number,
  count: number,
  { first, next, reads }: (typeof KINDS)['slow headers'],
): Promise<number[]> {
  const lives = Array.from({ length: count }, () => {
    return new Promise<number>((resolve) => {
      let started = performance.now()
      const socket = connect({ port, host: '127.0.0.1' })
      let number = 0
      const timer = setInterval(() => socket.write(next(number++)), 1_000)
      const end = () => {
        clearInterval(timer)
        socket.destroy()
        resolve(performance.now() - started)
      }
      if (reads) socket.resume()
      else {
        // Slow from the moment at which there is something to read, of which it takes no more than that.
        socket.once('readable', () => {
          started = performance.now()
          setTimeout(() => socket.resume(), CLOSED_MILLISECONDS - 1_000)
        })
      }
      socket.on('end', end)
      socket.on('close', end)
      socket.on('error', end)
      socket.write(first)
    })
  })
  return Promise.all(lives)
}

async function createLargeSpecies(origin: string): Promise<void> {
  const long = 'x'.repeat(LONGEST)
  for (let number = 0; number < PAGE; number++) {
    const body = {
      scientific_name: `${number} ${long}`.slice(0, LONGEST),
      common_name: long,
      habitat: long,
      intelligence_level: long,
      classification: { kingdom: long, class: long, phylum: long },
    }
    await send(origin, { method: 'POST', path: '/api/v1/species', body })
  }
}

/** The times of so many requests, one after the other, in milliseconds. */
async function sample(origin: string, count: number): Promise<number[]> {
  const times: number[] = []
  for (let number = 0; number < count; number++) {
    const started = performance.now()
    await send(origin, { method: 'GET', path: '/api/v1/species?limit=1' })
    times.push(performance.now() - started)
  }
  return times
}
