import test, { type ExecutionContext } from 'ava'
import { resources } from '../helpers/domain/domain.ts'
import { Fixtures, writtenPart } from '../helpers/domain/fixtures.ts'
import type { Answer } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

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

/** A resource that the writer with all scopes has made, by its identifier. */
async function make(path: string, body: object): Promise<string> {
  const answer = await service().writer.post(path, body)
  if (answer.status !== 201) throw new Error(`${path} was not made: ${answer.text}`)
  return answer.body.id
}

function refusedWithout(t: ExecutionContext, answer: Answer, code: string, stored: RegExp): void {
  t.is(answer.body.error.details[0].code, code)
  t.notRegex(answer.text, stored)
}

test('a refused crew member does not tell which mission the astronaut is on', async (t) => {
  const [mission, other] = [
    await make('/missions', { name: 'Boarded' }),
    await make('/missions', { name: 'Wanted' }),
  ]
  const body = { astronaut_id: await make('/astronauts', { name: 'Aboard' }), role: 'pilot' }
  await make(`/missions/${mission}/crew`, body)
  const refused = await service().withScope('crew:write').post(`/missions/${other}/crew`, body)
  refusedWithout(t, refused, 'ASTRONAUT_ON_MISSION', new RegExp(mission))
})

test('a refused patch does not tell the other bound of the stored range', async (t) => {
  const species = await make('/species', {
    scientific_name: 'Secreta',
    temperature_range: { min_celsius: 4, max_celsius: 17.25 },
  })
  const patch = { temperature_range: { min_celsius: 90 } }
  const refused = await service().withScope('species:write').patch(`/species/${species}`, patch)
  refusedWithout(t, refused, 'INVALID_RANGE', /17\.25/)
})

test('a refused patch does not tell what the stored composition adds up to', async (t) => {
  const planet = await make('/planets', { name: 'Of secret air' })
  const { writer, withScope } = service()
  await writer.put(`/planets/${planet}/atmosphere`, { composition: { argon: 0.625 } })
  const patch = { composition: { neon: 0.5 } }
  const refused = await withScope('atmosphere:write').patch(`/planets/${planet}/atmosphere`, patch)
  refusedWithout(t, refused, 'INVALID_COMPOSITION', /1\.125/)
})

/** Runs a statement as it is, without the triggers that keep versions and moments. */
async function withoutTriggers(statement: string): Promise<void> {
  const client = await service().database.pool.connect()
  try {
    await client.query('BEGIN')
    await client.query('SET LOCAL session_replication_role = replica')
    await client.query(statement)
    await client.query('COMMIT')
  } finally {
    client.release()
  }
}

test('last_updated never decreases, even if the clock does', async (t) => {
  const { writer, database } = service()
  await writer.put('/planets/ahead', { id: 'ahead', name: 'Ahead' })
  // Written while the clock was an hour ahead.
  await withoutTriggers("UPDATE planets SET last_updated = now() + interval '1 hour' WHERE id = 'ahead'")
  const before = await writer.get('/planets/ahead')
  t.is((await writer.patch('/planets/ahead', { habitable: true })).status, 204)
  const after = await writer.get('/planets/ahead')
  t.is(after.body.habitable, true)
  t.not(after.headers.get('etag'), before.headers.get('etag'))
  t.true(after.body.last_updated >= before.body.last_updated)
  t.true(
    new Date(after.headers.get('last-modified') ?? '') >= new Date(before.headers.get('last-modified') ?? ''),
  )

  await database.pool.query("UPDATE planets SET habitable = FALSE WHERE id = 'ahead'")
  const edited = await writer.get('/planets/ahead')
  t.true(edited.body.last_updated >= after.body.last_updated)
})

const ignoring = shareTestService(test, { unknownFields: 'ignore' })

for (const resource of resources) {
  const { path, replaceable, listed } = resource

  test.serial(`${path}: with UNKNOWN_FIELDS=ignore, fields that it does not have are ignored`, async (t) => {
    const { writer, reader } = ignoring()
    const fixtures = new Fixtures(writer)
    const body = await fixtures.body(resource)
    const groups = Object.entries(resource.writableFields).filter(([, { type }]) => type === 'group')
    const more = {
      shoe_size: 43,
      ...Object.fromEntries(groups.map(([name]) => [name, { ...body[name], shoe_size: 43 }])),
    }
    const { path: address, id, answer } = await fixtures.create(resource, { body: { ...body, ...more } })
    t.false('shoe_size' in answer.body)
    t.deepEqual(writtenPart(resource, answer.body), body)
    if (!replaceable) return
    const again = listed ? { id } : {}
    t.is((await writer.put(address, { ...body, ...again, ...more })).status, 204)
    t.is((await writer.patch(address, { shoe_size: null })).status, 204)
    t.is((await reader.get(address)).headers.get('etag'), answer.headers.get('etag'))
    const broken = await writer.put(address, { shoe_size: 43, [Object.keys(body)[0] as string]: { a: 1 } })
    t.is(broken.status, 400, 'other problems are reported')
    t.notRegex(broken.text, /shoe_size/)
  })
}

test('with UNKNOWN_FIELDS=ignore, the documents allow unknown fields in bodies', async (t) => {
  const { anonymous, base } = ignoring()
  const { schemas } = (await anonymous.get(`${base}/openapi.json`)).body.components
  t.true(schemas.SpeciesPatch.additionalProperties)
  t.deepEqual(schemas.SpeciesInput.allOf, [{ $ref: '#/components/schemas/SpeciesPatch' }])
  t.true(schemas.SpeciesPatch.properties.temperature_range.additionalProperties)
  t.is((await anonymous.get(`${base}/profile/species`)).body.policies.body.unknown_fields, 'ignored')
})
