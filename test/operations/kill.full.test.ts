import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import { createEmbedded, createTestFolder } from '../helpers/database/database.ts'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { killRepeatedly, timeUntilReady } from '../helpers/load/kill.ts'
import { type Outcome, runLoad, type Sent, send } from '../helpers/load/load.ts'
import { type ServiceProcess, startProcess } from '../helpers/service/service-process.ts'

const server = findServer((reason) => console.log(`kill, on PostgreSQL: ${reason}`))
const QUIET = { LOG_LEVEL: 'info', DATABASE_TIMEOUT: '60000' }

for (const fsync of ['false', 'true']) {
  test.serial(`nothing acknowledged is lost when it is killed, embedded, with fsync ${fsync}`, async (t) => {
    const { dataDir } = await createEmbedded(t)
    const start = () => startProcess({ ...QUIET, DATA_DIR: dataDir, EMBEDDED_FSYNC: fsync }, t)
    const { problems } = await killRepeatedly(start, 1, 150)
    t.deepEqual(problems, [])
  })
}

const claim = server ? test.serial : test.skip
claim('nothing acknowledged is lost when it is killed, on PostgreSQL', async (t) => {
  const address = await createDatabaseOn(server as string, t)
  const { problems } = await killRepeatedly(
    () => startProcess({ ...QUIET, DATABASE_URL: address }, t),
    1,
    200,
  )
  t.deepEqual(problems, [])
})

test.serial('killed at any moment of its first start, it starts the next time', async (t) => {
  for (const milliseconds of [400, 1_500]) {
    const dataDir = await createTestFolder(t)
    const first = startProcess({ ...QUIET, DATA_DIR: dataDir }, t)
    await delay(milliseconds)
    first.kill('SIGKILL')
    await first.exited
    const second = startProcess({ ...QUIET, DATA_DIR: dataDir }, t)
    await t.notThrowsAsync(timeUntilReady(second))
    second.kill('SIGKILL')
    await second.exited
  }
})

claim('killed while it migrates, the next start migrates the rest', async (t) => {
  const { createServerDatabase } = await import('../helpers/database/database.ts')
  for (const milliseconds of [600, 900]) {
    const address = await createServerDatabase(server as string, t)
    const environment = { ...QUIET, DATABASE_URL: address, MIGRATE_ON_START: 'true' }
    const first = startProcess(environment, t)
    await delay(milliseconds)
    first.kill('SIGKILL')
    await first.exited
    const second = startProcess(environment, t)
    await t.notThrowsAsync(timeUntilReady(second))
    second.kill('SIGKILL')
    await second.exited
  }
})

const ROUNDS = 2
const BATCH = 20

/** Creates and then changes planets of its own in one batch. */
function batchOf(mark: string): Sent {
  const ids = Array.from({ length: BATCH }, (_, index) => `${mark}-${index}`)
  const operations = [
    ...ids.map((id) => ({ method: 'PUT', path: `/planets/${id}`, body: { id, name: id } })),
    ...ids.map((id) => ({ method: 'PATCH', path: `/planets/${id}`, body: { host_star: mark } })),
  ]
  return { method: 'POST', path: '/api/v1/batch', body: { operations } }
}

/** Kills a service in the middle of batches again and again; resolves to what is wrong after each restart. */
async function killInBatches(start: () => ServiceProcess): Promise<string[]> {
  const problems: string[] = []
  const outcomes = new Map<string, Outcome>()
  const countOf = async (origin: string, filter: string) => {
    const found = await send(origin, { method: 'GET', path: `/api/v1/planets?${filter}` })
    return found.kind === 'answered' ? JSON.parse(found.body).total_count : found
  }
  for (let round = 0; round <= ROUNDS; round++) {
    const service = start()
    await timeUntilReady(service)
    const origin = await service.origin
    for (const [mark, outcome] of outcomes) {
      const isWritten = outcome.kind === 'answered' && outcome.status === 200
      const count = await countOf(origin, `filter=host_star:${mark}`)
      const isWhole = count === BATCH || (count === 0 && !isWritten)
      if (!isWhole) problems.push(`${mark}: ${count} of ${BATCH}, ${outcome.kind}`)
    }
    if ((await countOf(origin, 'filter=host_star[set]:false')) !== 0) problems.push('a batch is half done')
    if (outcomes.size > 0 && (await countOf(origin, '')) === 0) problems.push('nothing was written')
    if (round < ROUNDS) {
      let answered = 0
      const load = runLoad(
        origin,
        4,
        (number) => batchOf(`r${round}n${number}`),
        (sent, outcome) => {
          const { operations } = sent.body as { operations: { body: { host_star: string } }[] }
          outcomes.set(operations.at(-1)?.body.host_star ?? '', outcome)
          // The other callers are in the middle of theirs.
          if (++answered === 6 + round) service.kill('SIGKILL')
        },
      )
      await Promise.all([load, service.exited])
    } else {
      service.kill('SIGKILL')
      await service.exited
    }
  }
  const lost = [...outcomes.values()].filter(({ kind }) => kind === 'lost').length
  return lost > 0 ? problems : [...problems, 'no batch was interrupted']
}

test.serial('killed in the middle of a batch, it has written all or nothing, embedded', async (t) => {
  const { dataDir } = await createEmbedded(t)
  t.deepEqual(await killInBatches(() => startProcess({ ...QUIET, DATA_DIR: dataDir }, t)), [])
})

claim('killed in the middle of a batch, it has written all or nothing, on PostgreSQL', async (t) => {
  const address = await createDatabaseOn(server as string, t)
  t.deepEqual(await killInBatches(() => startProcess({ ...QUIET, DATABASE_URL: address }, t)), [])
})
