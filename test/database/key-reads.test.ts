import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import { DomainError } from '../../src/model/errors.ts'
import { startTestService } from '../helpers/service/service.ts'

test('after statements that fail, look-ups of the same table go on', async (t) => {
  t.timeout(60_000)
  const { reader, database } = await startTestService(t)
  await database.client.prisma.planet.create({ data: { id: 'there', name: 'There' } })
  const { pool } = database
  const query = pool.query.bind(pool) as (statement: { text: string }) => Promise<unknown>
  let fail = () => {}
  const failing = new Promise<void>((resolve) => {
    fail = resolve
  })
  let sent = 0
  Object.assign(pool, {
    query: async (statement: { text: string }) => {
      if (!statement.text.includes('"planets"')) return query(statement)
      sent += 1
      if (sent > 2) return query(statement)
      await failing
      throw new DomainError('SERVICE_UNAVAILABLE', 'The connection was lost.')
    },
  })
  const begin = async (statements: number) => {
    const answer = reader.get('/planets/there')
    while (sent < statements) await delay(1)
    return { answer }
  }
  const failed = [await begin(1), await begin(2)]
  const waiting = ['there', 'nowhere'].map((id) => reader.get(`/planets/${id}`))
  await delay(50)
  t.is(sent, 2)
  fail()
  for (const { answer } of failed) t.is((await answer).status, 503)
  t.deepEqual(
    (await Promise.all(waiting)).map(({ status }) => status),
    [200, 404],
  )
  t.is((await reader.get('/planets/there')).status, 200)
})
