import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { type Sent, send } from '../../test/helpers/load/load.ts'
import { type Change, type Ledger, listOf } from './ledger.ts'

const WRITERS = 16
const PLANETS = 40
const MOONS = 4
const SPECIES = 120

/** How long a transaction stays open. */
const OPEN_MILLISECONDS = 500

const any = (count: number) => Math.floor(Math.random() * count)
const isOneOf = (count: number) => any(count) === 0

let numbers = 0

/** A write of any kind to any resource. Each changes what it writes, so an acknowledged one is a change. */
function anyWrite(): Sent {
  const number = ++numbers
  const planet = `p${any(PLANETS)}`
  const [list, id, body] = (
    [
      ['/planets', planet, { name: `Planet ${number}`, orbital_period_days: number }],
      [`/planets/${planet}/moons`, `m${any(MOONS)}`, { name: `Moon ${number}`, orbital_period_days: number }],
      [
        '/species',
        `s${any(SPECIES)}`,
        {
          scientific_name: `Species ${number}`,
          habitat: `h${number}`,
          ...(isOneOf(8) && { planet_origin: planet }),
        },
      ],
    ] as const
  )[any(3)] as [string, string, object]
  const path = `${list}/${id}`
  const kind = any(20)
  if (kind < 2) return { method: 'POST', path: list, body }
  if (kind < 9) return { method: 'PUT', path, body: { ...body, id } }
  if (kind < 18) return { method: 'PATCH', path, body }
  return { method: 'DELETE', path, headers: { prefer: 'handling=strict' } }
}

/** Lets callers write over the services until so many changes were acknowledged. */
export async function write(origins: () => readonly string[], ledger: Ledger, writes: number): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  const converse = async (_: unknown, caller: number) => {
    for (let turn = caller; ledger.count < writes; turn++) {
      const origin = origins()[turn % origins().length] as string
      const isBatch = isOneOf(12)
      const operations = Array.from({ length: isBatch ? 1 + any(5) : 1 }, anyWrite)
      const [first] = operations as [Sent]
      const sent = isBatch
        ? { method: 'POST', path: '/api/v1/batch', body: { operations } }
        : { ...first, path: `/api/v1${first.path}` }
      const outcome = await send(origin, sent, agent)
      if (outcome.kind !== 'answered' || outcome.status >= 400) {
        ledger.outcome(outcome)
        if (outcome.kind !== 'answered') await delay(20)
      } else if (isBatch) {
        for (const [index, { status, headers }] of JSON.parse(outcome.body).results.entries()) {
          const { method, path } = operations[index] as Sent
          ledger.result(method, listOf(path), path, status, headers?.ETag)
        }
      } else
        ledger.result(first.method, listOf(first.path), first.path, outcome.status, outcome.headers['etag'])
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, converse))
  agent.destroy()
}

/** The statements of an open transaction: on rows of its own, which no other writer waits for, and on those of all. */
function anyStatement(): { text: string; values: unknown[]; list: string; event: string } {
  const number = ++numbers
  const planet = `p${any(PLANETS)}`
  const kind = any(8)
  if (kind < 4) {
    const text = 'INSERT INTO planets (id, name) VALUES ($1, $1) RETURNING id, version'
    return { text, values: [`own-${number}`], list: 'planets/', event: 'created' }
  }
  if (kind < 6) {
    const text = 'UPDATE species SET habitat = $2 WHERE id = $1 RETURNING id, version'
    return { text, values: [`s${any(SPECIES)}`, `h${number}`], list: 'species/', event: 'changed' }
  }
  if (kind < 7) {
    const text = 'UPDATE moons SET name = $3 WHERE planet_id = $1 AND id = $2 RETURNING id, version'
    const values = [planet, `m${any(MOONS)}`, `Moon ${number}`]
    return { text, values, list: `moons/${planet}`, event: 'changed' }
  }
  const text = 'DELETE FROM moons WHERE planet_id = $1 AND id = $2 RETURNING id, version'
  return { text, values: [planet, `m${any(MOONS)}`], list: `moons/${planet}`, event: 'deleted' }
}

/** Writes in transactions, most of which stay open for a while, and are then committed or not. */
export async function writeSlowly(client: Client, ledger: Ledger, isOver: () => boolean): Promise<number> {
  let late = 0
  while (!isOver()) {
    try {
      const changes: Change[] = []
      await client.query(`BEGIN ISOLATION LEVEL ${isOneOf(4) ? 'SERIALIZABLE' : 'READ COMMITTED'}`)
      for (let count = 1 + any(3); count > 0; count--) {
        const { text, values, list, event } = anyStatement()
        const { rows } = await client.query(text, values)
        for (const { id, version } of rows) changes.push(`${list}/${id} ${version} ${event}` as Change)
      }
      const isLate = !isOneOf(4)
      if (isLate) await delay(Math.random() * OPEN_MILLISECONDS)
      const isKept = !isOneOf(4)
      await client.query(isKept ? 'COMMIT' : 'ROLLBACK')
      if (!isKept) continue
      ledger.changes.push(...changes)
      if (isLate) late++
    } catch (error) {
      ledger.note(`SQL: ${(error as Error).message}`)
      await client.query('ROLLBACK')
    }
  }
  return late
}
