import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import { createEmbedded, createTestFolder } from '../helpers/database/database.ts'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { killRepeatedly, timeUntilReady } from '../helpers/load/kill.ts'
import { startProcess } from '../helpers/service/service-process.ts'

const server = await findServer((reason) => console.log(`kill, on PostgreSQL: ${reason}`))
const QUIET = { LOG_LEVEL: 'info', DATABASE_TIMEOUT: '60000' }

for (const fsync of ['false', 'true']) {
  test.serial(`nothing acknowledged is lost when it is killed, embedded, with fsync ${fsync}`, async (t) => {
    const { dataDir } = await createEmbedded(t)
    const start = () => startProcess({ ...QUIET, DATA_DIR: dataDir, EMBEDDED_FSYNC: fsync }, t)
    const { problems } = await killRepeatedly(start, 2, 150)
    t.deepEqual(problems, [])
  })
}

const claim = server ? test.serial : test.skip
claim('nothing acknowledged is lost when it is killed, on PostgreSQL', async (t) => {
  const address = await createDatabaseOn(server as string, t)
  const { problems } = await killRepeatedly(
    () => startProcess({ ...QUIET, DATABASE_URL: address }, t),
    2,
    200,
  )
  t.deepEqual(problems, [])
})

test.serial('killed at any moment of its first start, it starts the next time', async (t) => {
  for (const milliseconds of [400, 1_200, 2_500]) {
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
