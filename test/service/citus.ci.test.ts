import test from 'ava'
import { imitateCitus } from '../helpers/database/citus.ts'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { until } from '../helpers/process/until.ts'
import { environmentFor, runCommand } from '../helpers/service/commands.ts'
import { startMany } from '../helpers/service/namespaces.ts'
import { CITUS_RESTRICTIONS } from '../restricted-engine/citus.ts'
import { createRestrictedEngine } from '../restricted-engine/engine.ts'

const server = findServer(console.log)
const claim = server ? test : test.skip

claim('a namespace is served from its node, and from the next one when it has moved', async (t) => {
  const databaseUrl = await createDatabaseOn(server as string, t)
  const options = { restrictions: CITUS_RESTRICTIONS }
  const ends: (() => Promise<void>)[] = []
  const owner = { teardown: (end: () => Promise<void>) => void ends.push(end) }
  const first = await createRestrictedEngine(owner, databaseUrl, options)
  const second = await createRestrictedEngine(t, databaseUrl, options)
  await imitateCitus(databaseUrl, [first.address, second.address])
  const run = (...parameters: string[]) =>
    runCommand('namespace', environmentFor({ databaseUrl, dataDir: '' }), ...parameters)
  t.like(await run('create', 'north'), { output: 'Created north\n', errors: '' })
  t.true((await run('list')).output.includes(new URL(first.address).host))

  const north = (await startMany(t, server as string, {}, { databaseUrl })).inside('north')
  const kepler = await north.post('/planets', { name: 'Kepler' })
  t.is(kepler.status, 201)
  const path = `/planets/${(kepler.body as { id: string }).id}`
  t.true(first.sessions() > 0)
  t.is(second.sessions(), 0)

  const moved = await run('move', 'north', '--address', second.address)
  t.like(moved, { output: 'north is at its new address\n', errors: '' })
  await until(async () => {
    t.is((await north.get(path)).status, 200)
    return second.sessions() > 0
  })
  for (const end of ends) await end()
  t.is((await north.post('/planets', { name: 'Kepler' })).status, 409)
  t.is((await north.delete(path)).status, 204)
  t.deepEqual([...first.refused, ...second.refused], [])
  t.true((await run('list')).output.includes(new URL(second.address).host))

  t.like(await run('remove', 'north', '--yes'), { status: 0 })
  t.regex((await run('move', 'north', '--address', first.address)).errors, /There is no namespace north/)
})
