import test, { type ExecutionContext } from 'ava'
import { lackingFeatures, migrate } from '../../src/database/migrations/migrator.ts'
import { createServerDatabase } from '../helpers/database/database.ts'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { tables } from '../helpers/domain/domain.ts'
import type { Answer, Client, Json } from '../helpers/service/client.ts'
import { startTestService } from '../helpers/service/service.ts'
import { createRestrictedEngine } from './engine.ts'
import { type FaultRates, SET_UP } from './faults.ts'
import { RESTRICTIONS, TRANSACTIONS_WITH_DDL } from './restrictions.ts'

const server = findServer((reason) => console.log(`restricted engine: ${reason}`))
const claim = server ? test : test.skip

/** A service whose statements and commits fail at these rates, once it has started. */
async function startOnEngine(t: ExecutionContext, rates: Partial<FaultRates>) {
  const database = await createDatabaseOn(server as string, t)
  const engine = await createRestrictedEngine(t, database, { faults: rates, faultsSince: SET_UP })
  const service = await startTestService(t, { databaseUrl: engine.address, databasePoolSize: 4 })
  return { engine, ...service }
}

/** Those that the migrations need not follow. */
const restrictions = RESTRICTIONS.filter(({ name }) => !TRANSACTIONS_WITH_DDL.includes(name))

const species = (name: string) => ({ scientific_name: name, planet_origin: `Planet of ${name}` })

/** Every kind of write and read, whose statuses depend on nothing but these requests. */
async function work({ get, post, put, patch, delete: remove, graphql }: Client, name: string) {
  const answers: Answer[] = []
  const ask = async (answer: Promise<Answer>) => {
    answers.push(await answer)
    return answers.at(-1) as Answer
  }
  await ask(put(`/planets/${name}`, { id: name, name }))
  const { body } = await ask(post('/species', species(name), { 'idempotency-key': name }))
  await ask(patch(`/species/${body.id}`, { habitat: 'cave' }, { 'if-match': `"${body.id}:1"` }))
  await ask(get(`/species?filter=scientific_name:${name}`))
  const operations = [1, 2, 3].map((number) => ({
    method: 'POST',
    path: `/planets/${name}/moons`,
    body: { name: `${name} ${number}` },
  }))
  await ask(post('/batch', { operations }))
  const { data } = await graphql(`mutation @atomic {
    patchPlanet(id: "${name}", patch: { hostStar: "Sol" }) { planet { moons { totalCount } } }
    deletePlanet(id: "${name}") { outcome }
  }`)
  await ask(remove(`/species/${body.id}`))
  const statuses = answers.map(({ status, body }) => body?.results?.map((one: Json) => one.status) ?? status)
  return [...statuses, data?.patchPlanet.planet.moons.totalCount, data?.deletePlanet.outcome]
}

claim(
  'an empty database is migrated with what the engine has, but that definitions are undone together',
  async (t) => {
    const engine = await createRestrictedEngine(t, await createServerDatabase(server as string, t), {
      restrictions,
    })
    const applied = await migrate({ connectionString: engine.address }, tables.migrations)
    t.true(applied.length > 0)
    t.deepEqual(engine.refused, [])
    t.deepEqual(await lackingFeatures({ connectionString: engine.address }), [])
  },
)

claim('without advisory locks, only these are missing', async (t) => {
  const missing = [
    { name: 'advisory locks', pattern: /\bpg_advisory_xact_lock\b/, example: [], nearMiss: [], source: '' },
  ]
  const database = await createServerDatabase(server as string, t)
  const { address } = await createRestrictedEngine(t, database, { restrictions: missing })
  t.deepEqual(await lackingFeatures({ connectionString: address }), [
    'advisory locks (advisory locks not supported yet)',
  ])
})

claim('migrations that the engine ends are repeated', async (t) => {
  const database = await createServerDatabase(server as string, t)
  const faults = { seed: 3, aborts: 0.05, refusedCommits: 0.5 }
  const engine = await createRestrictedEngine(t, database, { restrictions, faults })
  const applied = await migrate({ connectionString: engine.address }, tables.migrations)
  t.deepEqual(await lackingFeatures({ connectionString: engine.address }), [])
  for (const fault of ['40001', '40P01', 'commit refused']) t.true((engine.faults.get(fault) ?? 0) > 0, fault)
  t.deepEqual(await migrate({ connectionString: database }, tables.migrations), [], 'nothing is left to do')
  t.true(applied.length > 0)
})

claim('statements and commits that the engine ends are repeated, so that no caller notices', async (t) => {
  const { writer, engine } = await startOnEngine(t, { seed: 5, aborts: 0.05, refusedCommits: 0.1 })
  const names = Array.from({ length: 24 }, (_, index) => `p${index}`)
  const found = await Promise.all(names.map((name) => work(writer, name)))
  for (const statuses of found)
    t.deepEqual(statuses, [201, 201, 204, 200, [201, 201, 201], 204, 3, 'DELETED'])
  for (const fault of ['40001', '40P01', 'commit refused']) t.true((engine.faults.get(fault) ?? 0) > 0, fault)
})

claim('a commit of unknown outcome is sent once; the caller repeats the request with its key', async (t) => {
  const { writer, engine } = await startOnEngine(t, { seed: 4, lostCommits: 0.6 })
  const lost = () => [...engine.faults].filter(([fault]) => fault.startsWith('commit lost'))
  const count = () => lost().reduce((sum, [, times]) => sum + times, 0)
  let number = 0
  for (; lost().length < 2 && number < 40; number++) {
    const create = async () => {
      const before = count()
      const key = { 'idempotency-key': `k${number}` }
      const { status } = await writer.post('/species', species(`s${number}`), key)
      // A lost connection can also be in the way of the requests that follow.
      t.true(
        count() - before <= (status === 503 ? 1 : 0),
        'a lost commit is answered with 503, and not repeated',
      )
      return status
    }
    let status = await create()
    for (; status === 503; status = await create());
    t.is(status, 201)
  }
  t.deepEqual(
    lost()
      .map(([fault]) => fault)
      .sort(),
    ['commit lost after', 'commit lost before'],
  )
  t.is((await writer.get('/species')).body.total_count, number)
})
