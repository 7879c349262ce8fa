import test from 'ava'
import { createEmbedded } from '../helpers/database/database.ts'
import { send } from '../helpers/load/load.ts'
import { startProcess } from '../helpers/service/service-process.ts'

/** Their lines are far more than a pipe holds. */
const REQUESTS = 3_000

test('an unread log neither stalls the service nor prevents its stop', async (t) => {
  const { dataDir } = await createEmbedded(t)
  const service = startProcess({ DATA_DIR: dataDir, LOG_LEVEL: 'info' }, t)
  const origin = await service.origin
  service.child.stdout?.pause()
  const statuses = new Set<number>()
  for (let sent = 0; sent < REQUESTS; sent += 50) {
    const outcomes = Array.from({ length: 50 }, () => send(origin, { method: 'GET', path: '/api/v1' }))
    for (const outcome of await Promise.all(outcomes))
      statuses.add(outcome.kind === 'answered' ? outcome.status : 0)
  }
  t.deepEqual([...statuses], [200])
  service.kill('SIGTERM')
  t.deepEqual(await service.exited, { code: 0, signal: null })
})
