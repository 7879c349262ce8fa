import test from 'ava'
import { createEmbedded } from '../helpers/database.ts'
import { ENGINE_OPTIONS, MAIN, startProcess } from '../helpers/service-process.ts'

/** Every collection is a full one, and says what it does. */
const TRACED = ['--gc-global', '--trace-gc-verbose', '--trace-pretenuring-statistics']

test('the service moves no arrays to the old objects, which may double before a full collection', async (t) => {
  const { dataDir } = await createEmbedded(t)
  const environment = { DATA_DIR: dataDir, WORKERS: '1' }
  const service = startProcess(environment, t, [process.execPath, ...ENGINE_OPTIONS, ...TRACED, MAIN])
  const origin = await service.origin
  const started = service.output().length
  for (let count = 0; count < 40; count++) await (await fetch(`${origin}/api/v1/openapi.json`)).text()
  const output = service.output().slice(started)
  t.notRegex(output, /pretenuring:/)
  const limits = [...output.matchAll(/\[HeapController\] Limit: old size: (\d{5}) KB, new limit: (\d+) KB/g)]
  t.true(limits.length > 0)
  // The limit is for old objects, and includes room for the young ones. The thread of the database has less than 10 MB.
  for (const [, size, limit] of limits) t.true(Number(limit) < 3 * Number(size), `${size} KB, ${limit} KB`)
})
