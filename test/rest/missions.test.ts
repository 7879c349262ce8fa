import test from 'ava'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

let made = 0

async function make(path: string, body: Record<string, unknown>): Promise<string> {
  const answer = await service().writer.post(path, { name: `${path} ${made++}`, ...body })
  if (answer.status !== 201) throw new Error(`${path} was not made: ${answer.text}`)
  return answer.body.id
}

test('a new mission is planned, and another status in its body is refused', async (t) => {
  const { writer } = service()
  const id = await make('/missions', {})
  t.is((await writer.get(`/missions/${id}`)).body.status, 'planned')
  const refused = await writer.post('/missions', { name: 'Hasty', status: 'active' })
  t.is(refused.status, 422)
  t.is(refused.body.error.details[0].code, 'INVALID_STATUS_TRANSITION')
})

const ALLOWED = [
  ['planned', 'active'],
  ['planned', 'aborted'],
  ['active', 'completed'],
  ['active', 'aborted'],
]

const STATES = ['planned', 'active', 'completed', 'aborted']

for (const from of STATES) {
  for (const to of STATES.filter((state) => state !== from)) {
    const isAllowed = ALLOWED.some(([one, other]) => one === from && other === to)
    test(`a mission that is ${from} ${isAllowed ? 'can' : 'cannot'} become ${to}`, async (t) => {
      const { writer } = service()
      const id = await make('/missions', {})
      const way = from === 'completed' ? ['active', 'completed'] : from === 'planned' ? [] : [from]
      for (const status of way) t.is((await writer.patch(`/missions/${id}`, { status })).status, 204)
      const answer = await writer.patch(`/missions/${id}`, { status: to })
      t.is(answer.status, isAllowed ? 204 : 422)
      t.is((await writer.get(`/missions/${id}`)).body.status, isAllowed ? to : from)
      if (isAllowed) return
      for (const [one, other] of ALLOWED) {
        if (one === from)
          t.true(answer.body.error.details[0].message.includes(other), 'names the allowed moves')
      }
    })
  }
}

test('a replacement that leaves the status out leaves it as it is', async (t) => {
  const { writer } = service()
  const id = await make('/missions', { objective: 'look' })
  await writer.patch(`/missions/${id}`, { status: 'active' })
  t.is((await writer.put(`/missions/${id}`, { name: `kept ${id}` })).status, 204)
  const { body } = await writer.get(`/missions/${id}`)
  t.is(body.status, 'active')
  t.is(body.objective, undefined)
})

test('of two contradicting transitions at the same time only one succeeds', async (t) => {
  const { writer } = service()
  for (let round = 0; round < 5; round++) {
    const id = await make('/missions', {})
    await writer.patch(`/missions/${id}`, { status: 'active' })
    const answers = await Promise.all(
      ['completed', 'aborted'].map((status) => writer.patch(`/missions/${id}`, { status })),
    )
    t.deepEqual(answers.map(({ status }) => status).sort(), [204, 422])
  }
})

test('references to what does not exist are all named at once', async (t) => {
  const { status, body } = await service().writer.post('/missions', {
    name: 'Nowhere',
    destination_planet_id: 'nowhere',
    spacecraft_id: 'nothing\u{1F680}',
  })
  t.is(status, 422)
  t.deepEqual(
    body.error.details.map(({ field, code }: { field: string; code: string }) => [field, code]),
    [
      ['destination_planet_id', 'UNKNOWN_REFERENCE'],
      ['spacecraft_id', 'UNKNOWN_REFERENCE'],
    ],
  )
})

test('a mission links its destination and its spacecraft, and is found by them', async (t) => {
  const { writer } = service()
  const [planet, craft] = [await make('/planets', {}), await make('/spacecraft', { kind: 'rover' })]
  const id = await make('/missions', { destination_planet_id: planet, spacecraft_id: craft })
  const { _links: links } = (await writer.get(`/missions/${id}`)).body
  t.true(links.destination.href.endsWith(`/planets/${planet}`))
  t.true(links.spacecraft.href.endsWith(`/spacecraft/${craft}`))
  t.true(links.crew.href.endsWith(`/missions/${id}/crew`))
  const found = await writer.get(`/missions?filter=spacecraft_id:${craft}`)
  t.is(found.body.total_count, 1)
  t.is(found.body._embedded.missions[0].id, id)
})

test('a planet or a spacecraft that a mission uses cannot be deleted', async (t) => {
  const { writer } = service()
  const [planet, craft] = [await make('/planets', {}), await make('/spacecraft', { kind: 'rover' })]
  const id = await make('/missions', { destination_planet_id: planet, spacecraft_id: craft })
  for (const path of [`/planets/${planet}`, `/spacecraft/${craft}`]) {
    const refused = await writer.delete(path)
    t.is(refused.status, 409)
    t.is(refused.body.error.code, 'DEPENDENCY_CONFLICT')
    t.regex(refused.body.error.message, /missions/)
  }
  await writer.delete(`/missions/${id}`)
  t.is((await writer.delete(`/planets/${planet}`)).status, 204)
  t.is((await writer.delete(`/spacecraft/${craft}`)).status, 204)
})

test('data is added and deleted, never changed', async (t) => {
  const { writer } = service()
  const id = await make('/missions', {})
  const measured = {
    instrument: 'REMS',
    recorded_at: '2031-01-01T00:00:00.123Z',
    quantity: 'pressure',
    value: 7.36,
  }
  const { status, body } = await writer.post(`/missions/${id}/data`, measured)
  t.is(status, 201)
  const path = `/missions/${id}/data/${body.id}`
  for (const answer of [await writer.put(path, { ...body }), await writer.patch(path, { value: 1 })]) {
    t.is(answer.status, 405)
    t.is(answer.headers.get('allow'), 'GET, HEAD, DELETE, OPTIONS')
  }
  const { _links: links, ...stored } = (await writer.get(path)).body
  t.like(stored, measured)
  t.is(links.edit, undefined)
  t.is((await writer.delete(path)).status, 204)
  t.is((await writer.get(path)).status, 410)
})

test('a kind that no spacecraft has is a 400 that names the kinds there are', async (t) => {
  const { status, body } = await service().writer.post('/spacecraft', { name: 'Teapot', kind: 'kettle' })
  t.is(status, 400)
  t.is(body.error.details[0].code, 'INVALID_VALUE')
  t.regex(body.error.details[0].message, /orbiter, lander, rover, capsule, station/)
})

test('spacecraft are found by kind and by capacity', async (t) => {
  const { writer } = service()
  await writer.post('/spacecraft', { name: 'Small', kind: 'capsule', crew_capacity: 3 })
  await writer.post('/spacecraft', { name: 'Large', kind: 'station', crew_capacity: 7 })
  await writer.post('/spacecraft', { name: 'Empty', kind: 'rover', crew_capacity: 0 })
  const { body } = await writer.get('/spacecraft?filter=crew_capacity[gte]:1&filter=kind[in]:capsule|rover')
  t.deepEqual(
    body._embedded.spacecraft.map(({ name }: { name: string }) => name),
    ['Small'],
  )
})

test('a negative capacity is refused', async (t) => {
  const { status, body } = await service().writer.post('/spacecraft', {
    name: 'Hole',
    kind: 'orbiter',
    crew_capacity: -1,
  })
  t.is(status, 400)
  t.is(body.error.details[0].code, 'OUT_OF_RANGE')
})
