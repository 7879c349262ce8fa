import test from 'ava'
import { shareTestService } from '../helpers/service.ts'

const service = shareTestService(test)

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
