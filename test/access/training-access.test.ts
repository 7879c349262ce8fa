import test from 'ava'
import type { Client, Json } from '../helpers/service/client.ts'
import { startTestService, type TestService } from '../helpers/service/service.ts'

const COURSE = { course: 'Vehicle egress', completed_date: '2030-02-14T16:00:00.000Z' }

const INSTRUCTOR = { role: 'instructor' }

/** Two astronauts, with a record each. */
async function addRecords({ withScope }: TestService): Promise<[ida: string, ina: string]> {
  const writer = withScope('*:read *:write', 'writer', INSTRUCTOR)
  const add = async (name: string) => {
    const { body } = await writer.post('/astronauts', { name })
    const record = { ...COURSE, id: `of-${name}` }
    await writer.put(`/astronauts/${body.id}/training-records/of-${name}`, record)
    return body.id as string
  }
  return [await add('ida'), await add('ina')]
}

/** The identifiers of all records that a caller sees. */
async function recordsOf(client: Client): Promise<string[]> {
  const { data } = await client.graphql('{ trainingRecordPage(sort: [{ field: ID }]) { items { id } } }')
  return data.trainingRecordPage.items.map(({ id }: Json) => id)
}

test('everyone who may read training records reads all of them by default', async (t) => {
  const service = await startTestService(t)
  const [ida] = await addRecords(service)
  for (const client of [service.reader, service.withScope('training-records:read', ida)])
    t.deepEqual(await recordsOf(client), ['of-ida', 'of-ina'])
})

test('with TRAINING_ACCESS=own an astronaut reads her own training records, and instructors read all', async (t) => {
  const ruleSettings = { planetReference: 'stub', trainingAccess: 'own' }
  const service = await startTestService(t, { ruleSettings })
  const [ida, ina] = await addRecords(service)
  const astronaut = service.withScope('training-records:read astronauts:read', ida)
  const instructor = service.withScope('*:read', 'anyone', INSTRUCTOR)
  t.deepEqual(await recordsOf(astronaut), ['of-ida'])
  t.deepEqual(await recordsOf(instructor), ['of-ida', 'of-ina'])
  t.deepEqual(await recordsOf(service.reader), [])
  t.is((await astronaut.get(`/astronauts/${ida}/training-records/of-ida`)).status, 200)
  t.is((await astronaut.get(`/astronauts/${ina}/training-records/of-ina`)).status, 404)
  t.is((await instructor.get(`/astronauts/${ina}/training-records/of-ina`)).status, 200)
  const created = await service.writer.put(`/astronauts/${ida}/training-records/new`, {
    ...COURSE,
    id: 'new',
  })
  t.deepEqual([created.status, created.text], [201, ''])
  const { status, body } = await astronaut.get(`/astronauts/${ina}/training-records`)
  t.deepEqual([status, body.total_count], [200, 0])
})
