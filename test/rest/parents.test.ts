import test from 'ava'
import { shareTestService } from '../helpers/service.ts'

const service = shareTestService(test)

const TOO_MUCH = { composition: { argon: 1.5 } }
const STRANGER = { astronaut_id: 'nobody', role: 'pilot' }

/** Requests that a rule would refuse, below a mission and a planet of that identifier. */
const requests = (id: string) => {
  const { writer } = service()
  return {
    'POST of a crew member': () => writer.post(`/missions/${id}/crew`, STRANGER),
    'POST of a crew member with a key': () =>
      writer.post(`/missions/${id}/crew`, STRANGER, { 'Idempotency-Key': `key-${id}` }),
    'PUT of a crew member': () => writer.put(`/missions/${id}/crew/c`, { id: 'c', ...STRANGER }),
    'PUT of an atmosphere': () => writer.put(`/planets/${id}/atmosphere`, TOO_MUCH),
  }
}

test('a parent that never existed is 404, also where a rule would refuse the body', async (t) => {
  for (const [name, send] of Object.entries(requests('never-was'))) {
    const { status, body } = await send()
    t.deepEqual([status, body.error.code], [404, 'RESOURCE_NOT_FOUND'], name)
    t.regex(body.error.message, /"never-was" in (?:missions|planets)/)
  }
})

test('a parent that was deleted is a 410, also where a rule would refuse the body', async (t) => {
  const { writer } = service()
  for (const path of ['/missions/gone', '/planets/gone']) {
    await writer.put(path, { id: 'gone', name: 'Gone' })
    await writer.delete(path)
  }
  for (const [name, send] of Object.entries(requests('gone'))) {
    const { status, body } = await send()
    t.deepEqual([status, body.error.code], [410, 'RESOURCE_GONE'], name)
  }
  const moon = await writer.put('/planets/gone/moons/m', { id: 'm', name: 'M' })
  t.is(moon.status, 410)
})

test('under an existing parent, the rule refuses the body', async (t) => {
  const { writer } = service()
  for (const path of ['/missions/here', '/planets/here']) await writer.put(path, { id: 'here', name: 'Here' })
  for (const [name, send] of Object.entries(requests('here'))) {
    const { status, body } = await send()
    t.deepEqual([status, body.error.code], [422, 'BUSINESS_RULE_VIOLATION'], name)
  }
})

test('a body that is wrong in itself is a 400 before the parent is looked for', async (t) => {
  const { status } = await service().writer.post('/missions/never-was/crew', { role: 1 })
  t.is(status, 400)
})

test('a child that is written while its parent is deleted and created again is never a fault', async (t) => {
  const { writer } = service()
  const planet = '/planets/flickering'
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, index) => {
      if (index % 3 === 0) return writer.put(planet, { id: 'flickering', name: 'Flickering' })
      if (index % 3 === 1) return writer.delete(planet)
      return writer.post(`${planet}/moons`, { name: `Moon ${index}` })
    }),
  )
  const others = answers.filter(({ status }) => ![201, 204, 404, 410].includes(status))
  t.deepEqual(
    others.map(({ text }) => text),
    [],
  )
})
