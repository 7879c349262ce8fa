import test from 'ava'
import { createDatabaseOn, findServer } from '../helpers/database/postgres-server.ts'
import { contradictions, type Observed } from '../helpers/load/linearizability.ts'
import { tries } from '../helpers/process/run.ts'
import type { Answer, Client } from '../helpers/service/client.ts'
import { startTestService } from '../helpers/service/service.ts'

const server = findServer((reason) => console.log(`two processes: ${reason}`))

const ROUNDS = tries(1, 3)

const versionOf = ({ headers }: Answer) => Number(/:(\d+)"$/.exec(headers.get('etag') ?? '')?.[1])

/** Lets callers read and conditionally write one species at once; resolves to what they saw. */
async function record(callers: readonly Client[], operations: number): Promise<Observed[]> {
  const id = `register-${Math.random().toString(36).slice(2)}`
  const path = `/species/${id}`
  const species = (habitat: string) => ({ id, scientific_name: id, habitat })
  const [first] = callers
  await first?.put(path, species('none'))
  const history: Observed[] = []
  const run = async (client: Client, caller: number) => {
    let known = 1
    for (let number = 0; number < operations; number++) {
      const began = performance.now()
      if (number % 3 === 0) {
        const answer = await client.get(path)
        known = versionOf(answer)
        history.push({
          kind: 'read',
          began,
          ended: performance.now(),
          version: known,
          value: answer.body.habitat,
        })
        continue
      }
      const value = `${caller}-${number}`
      const expected = known
      const answer = await client.put(path, species(value), { 'if-match': `"${id}:${expected}"` })
      const kind = answer.status === 204 ? 'write' : 'refused write'
      if (answer.status !== 204 && answer.status !== 409) throw new Error(answer.text)
      known = versionOf(answer)
      history.push({ kind, began, ended: performance.now(), version: known, expected, value })
    }
  }
  await Promise.all(callers.map(run))
  return history
}

test('reads and conditional writes of one resource happen in one order', async (t) => {
  const { writer } = await startTestService(t)
  for (let round = 0; round < ROUNDS; round++) {
    const history = await record(
      Array.from({ length: 8 }, () => writer),
      25,
    )
    t.true(history.some(({ kind }) => kind === 'refused write'))
    t.deepEqual(contradictions(history), [])
  }
})

const claim = server ? test : test.skip
claim('two services on one PostgreSQL give one truth', async (t) => {
  const databaseUrl = await createDatabaseOn(server as string, t)
  const services = [await startTestService(t, { databaseUrl }), await startTestService(t, { databaseUrl })]
  // One caller of both: each service has made its own token for its writer, which has no subject.
  const writers = services.map(({ withSubject }) => withSubject('writer'))
  const [one, two] = writers as [Client, Client]
  for (let round = 0; round < ROUNDS; round++) {
    t.deepEqual(contradictions(await record([one, two, one, two, one, two], 25)), [])
  }

  const racing = (client: Client, id: string) => client.put(`/planets/${id}`, { id, name: id })
  for (let round = 0; round < 10; round++) {
    const answers = await Promise.all([one, two, one, two].map((client) => racing(client, `raced-${round}`)))
    t.deepEqual(answers.map(({ status }) => status).sort(), [201, 204, 204, 204])
    const key = { 'idempotency-key': `key-${round}` }
    const posts = await Promise.all(
      [one, two, one, two].map((client) =>
        client.post('/spacecraft', { name: `craft ${round}`, kind: 'lander' }, key),
      ),
    )
    t.is(new Set(posts.map(({ text }) => JSON.parse(text).id)).size, 1)
    const names = await Promise.all(
      [one, two].map((client) => client.post('/planets', { name: `unique ${round}` })),
    )
    t.deepEqual(names.map(({ status }) => status).sort(), [201, 409])
  }
  const [seen, alsoSeen] = await Promise.all([one.get('/planets?limit=100'), two.get('/planets?limit=100')])
  t.is(seen.body.total_count, 20)
  t.deepEqual(
    alsoSeen.body._embedded.planets.map(({ id }: { id: string }) => id),
    seen.body._embedded.planets.map(({ id }: { id: string }) => id),
  )
})

test('the checker finds a stale read, a lost update and a value that was never written', (t) => {
  const write = (version: number, began: number): Observed => ({
    kind: 'write',
    began,
    ended: began + 1,
    version,
    expected: version - 1,
    value: `v${version}`,
  })
  const read = (version: number, began: number, value = `v${version}`): Observed => ({
    kind: 'read',
    began,
    ended: began + 1,
    version,
    value,
  })
  t.deepEqual(contradictions([write(2, 0), read(2, 2), write(3, 4), read(3, 4.5)]), [])
  t.is(contradictions([write(2, 0), write(3, 2), read(2, 4)]).length, 1)
  t.true(contradictions([write(2, 0), { ...write(2, 0.5) }]).length > 0)
  t.is(contradictions([write(2, 0), read(2, 2, 'else')]).length, 1)
  t.is(contradictions([read(2, 0), write(2, 2)]).length > 0, true)
})
