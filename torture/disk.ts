import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestFolder, type Owner } from '../test/helpers/database/database.ts'
import { createOwnServer, findPrograms } from '../test/helpers/database/own-server.ts'
import { createDatabaseOn } from '../test/helpers/database/postgres-server.ts'
import { runLoad, send } from '../test/helpers/load/load.ts'
import { startProcess } from '../test/helpers/service/service-process.ts'
import { withOwner } from './owner.ts'

/** The disk, the part of it that can be freed again, and how often writes must have failed before it is. */
const DISK_MEGABYTES = 160
const FREED_MEGABYTES = 40
const REFUSALS = 500

const ANSWER_MILLISECONDS = 3_000
const RECOVERY_MILLISECONDS = 5_000
const PATIENCE_MILLISECONDS = 120_000

/**
 * Fills the disk of a PostgreSQL server while it is written to: 503 in time, alive, and, once there is room
 * again, well by itself with everything that was acknowledged. A server that gave up is started again.
 */
export async function run(): Promise<string[]> {
  const programs = await findPrograms((reason) => console.log(reason))
  if (!programs) return ['there is no PostgreSQL to try it with']
  return withOwner(async (owner) => {
    const disk = await createDisk(owner)
    if (disk === undefined) return ['a disk of its own (tmpfs) can only be made by root']
    const server = await createOwnServer(owner, programs, ['max_wal_size=32MB', 'min_wal_size=32MB'], disk)
    const address = await createDatabaseOn(server.address, owner)
    const filler = join(disk, 'filler')
    await writeFile(filler, randomBytes(FREED_MEGABYTES * 2 ** 20))
    const service = startProcess({ DATABASE_URL: address, LOG_LEVEL: 'info' }, owner)
    const origin = await service.origin
    const seen = await fill(origin)
    const isAlive = (await send(origin, { method: 'GET', path: '/health/live' })).kind === 'answered'
    await rm(filler)
    const hasEnded = await server.hasEnded()
    if (hasEnded) await server.start()
    const recovery = await timeUntilWritten(origin)
    const lost = await missing(origin, seen.acknowledged)
    const statuses = JSON.stringify(Object.fromEntries(seen.statuses))
    console.log(
      `${statuses}, slowest ${Math.round(seen.slowest)} ms; the server ${hasEnded ? 'gave up' : 'went on'}; writing again after ${Math.round(recovery)} ms; ${seen.acknowledged.size} acknowledged, ${lost.length} lost`,
    )
    const wrong = [...seen.statuses.keys()].filter((status) => !['201', '503'].includes(status))
    return [
      ...(wrong.length > 0 ? [`answers ${wrong}`] : []),
      ...(seen.slowest > ANSWER_MILLISECONDS ? [`an answer after ${Math.round(seen.slowest)} ms`] : []),
      ...(isAlive ? [] : ['it was not alive']),
      ...(recovery > RECOVERY_MILLISECONDS ? [`recovery took ${Math.round(recovery)} ms`] : []),
      ...(lost.length > 0 ? [`lost: ${lost.slice(0, 5)}`] : []),
    ]
  })
}

/** A small disk of the owner's own; undefined where none can be made. */
async function createDisk(owner: Owner): Promise<string | undefined> {
  const folder = await createTestFolder(owner)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MEGABYTES}m`, 'tmpfs', folder], {
      stdio: 'ignore',
    })
  } catch {
    return undefined
  }
  owner.teardown(async () => void execFileSync('umount', ['--lazy', folder]))
  return folder
}

/** Creates large species until the disk has been full for a while. */
async function fill(origin: string) {
  const acknowledged = new Map<string, string>()
  const statuses = new Map<string, number>()
  const sent = new Map<object, { id: string; mark: string; at: number }>()
  let slowest = 0
  const until = performance.now() + PATIENCE_MILLISECONDS
  await runLoad(
    origin,
    8,
    (number) => {
      const [id, mark] = [`s${number}`, randomBytes(200).toString('hex')]
      const body = { id, scientific_name: `${id} ${mark}`, common_name: mark, habitat: mark }
      const request = { method: 'PUT', path: `/api/v1/species/${id}`, body }
      sent.set(request, { id, mark, at: performance.now() })
      return request
    },
    (request, outcome) => {
      const { id, mark, at } = sent.get(request) as { id: string; mark: string; at: number }
      sent.delete(request)
      slowest = Math.max(slowest, performance.now() - at)
      const what = outcome.kind === 'answered' ? String(outcome.status) : outcome.kind
      statuses.set(what, (statuses.get(what) ?? 0) + 1)
      if (what === '201') acknowledged.set(id, mark)
    },
    () => (statuses.get('503') ?? 0) >= REFUSALS || performance.now() > until,
  )
  return { acknowledged, statuses, slowest }
}

async function timeUntilWritten(origin: string): Promise<number> {
  const started = performance.now()
  for (let number = 0; performance.now() - started < PATIENCE_MILLISECONDS; number++) {
    const body = { id: `after-${number}`, scientific_name: `After ${number}` }
    const outcome = await send(origin, { method: 'PUT', path: `/api/v1/species/${body.id}`, body })
    if (outcome.kind === 'answered' && outcome.status === 201) break
    await delay(20)
  }
  return performance.now() - started
}

async function missing(origin: string, acknowledged: ReadonlyMap<string, string>): Promise<string[]> {
  const lost: string[] = []
  for (const [id, mark] of acknowledged) {
    const outcome = await send(origin, { method: 'GET', path: `/api/v1/species/${id}` })
    const isThere = outcome.kind === 'answered' && outcome.status === 200
    if (!isThere || JSON.parse(outcome.body).habitat !== mark) lost.push(id)
  }
  return lost
}
