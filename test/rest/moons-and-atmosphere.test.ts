import test from 'ava'
import { shareTestService } from '../helpers/service.ts'

const service = shareTestService(test)

async function planetNamed(id: string): Promise<string> {
  const { status } = await service().writer.put(`/planets/${id}`, { id, name: id })
  if (status !== 201) throw new Error(`planet ${id} was not made: ${status}`)
  return `/planets/${id}`
}

test('a moon is only found under its own planet', async (t) => {
  const [tellus, mars] = [await planetNamed('tellus'), await planetNamed('mars')]
  const { writer } = service()
  t.is((await writer.put(`${tellus}/moons/luna`, { id: 'luna', name: 'Luna' })).status, 201)
  t.is((await writer.get(`${tellus}/moons/luna`)).status, 200)
  t.is((await writer.get(`${mars}/moons/luna`)).status, 404)
  t.is((await writer.patch(`${mars}/moons/luna`, { name: 'Phobos' })).status, 404)
  t.is((await writer.delete(`${mars}/moons/luna`)).status, 204)
  t.is((await writer.get(`${tellus}/moons/luna`)).body.name, 'Luna')
})

test('two planets may each have a moon with the same id', async (t) => {
  const [one, other] = [await planetNamed('one'), await planetNamed('other')]
  const { writer } = service()
  t.is((await writer.put(`${one}/moons/a`, { id: 'a', name: 'One' })).status, 201)
  t.is((await writer.put(`${other}/moons/a`, { id: 'a', name: 'Other' })).status, 201)
  t.is((await writer.get(`${one}/moons/a`)).body.name, 'One')
})

test('deleting a planet deletes what it owns, which then reads as gone', async (t) => {
  const { writer } = service()
  const planet = await planetNamed('doomed')
  await writer.put(`${planet}/moons/m`, { id: 'm', name: 'M' })
  await writer.put(`${planet}/atmosphere`, { breathable: true })
  t.is((await writer.delete(planet)).status, 204)
  t.is((await writer.get(`${planet}/moons/m`)).status, 410)
  t.is((await writer.get(`${planet}/atmosphere`)).status, 410)
  t.is((await writer.post(`${planet}/moons`, { name: 'N' })).status, 410)
  t.is((await writer.get(`${planet}/moons`)).status, 410)
})

test('an atmosphere is unknown until it is set, created by the first PUT and replaced by the next', async (t) => {
  const { writer } = service()
  const planet = await planetNamed('airy')
  t.is((await writer.get(`${planet}/atmosphere`)).status, 404)
  t.is((await writer.get(planet)).body._links.atmosphere.href, `${service().base}${planet}/atmosphere`)
  const created = await writer.put(`${planet}/atmosphere`, { breathable: true })
  t.is(created.status, 201)
  t.true(created.headers.get('location')?.endsWith(`${planet}/atmosphere`))
  t.is((await writer.put(`${planet}/atmosphere`, { breathable: false })).status, 204)
})

test('a composition that adds up to more than 1 is refused, one that adds up to 1 in tenths is not', async (t) => {
  const { writer } = service()
  const planet = await planetNamed('mixed')
  const tenths = Object.fromEntries(Array.from({ length: 10 }, (_, gas) => [`gas ${gas}`, 0.1]))
  t.is((await writer.put(`${planet}/atmosphere`, { composition: tenths })).status, 201)
  const refused = await writer.patch(`${planet}/atmosphere`, { composition: { argon: 0.1 } })
  t.is(refused.status, 422)
  t.is(refused.body.error.details[0].code, 'INVALID_COMPOSITION')
  t.deepEqual((await writer.get(`${planet}/atmosphere`)).body.composition, tenths)
})

test('a patch removes a single gas from a composition', async (t) => {
  const { writer } = service()
  const planet = await planetNamed('thin')
  await writer.put(`${planet}/atmosphere`, { composition: { nitrogen: 0.7, oxygen: 0.2 } })
  t.is(
    (await writer.patch(`${planet}/atmosphere`, { composition: { oxygen: null, argon: 0.1 } })).status,
    204,
  )
  t.deepEqual((await writer.get(`${planet}/atmosphere`)).body.composition, { nitrogen: 0.7, argon: 0.1 })
})

test('a fraction that is negative or no number is a 400', async (t) => {
  const { writer } = service()
  const planet = await planetNamed('odd')
  for (const [fraction, code] of [
    [-0.1, 'OUT_OF_RANGE'],
    ['0.1', 'INVALID_TYPE'],
  ] as const) {
    const { status, body } = await writer.put(`${planet}/atmosphere`, { composition: { xenon: fraction } })
    t.is(status, 400)
    t.is(body.error.details[0].code, code)
  }
})

test('a name that objects inherit is no gas, whichever way it is sent', async (t) => {
  const { writer } = service()
  const planet = await planetNamed('prototypical')
  await writer.put(`${planet}/atmosphere`, { composition: { argon: 0.1 } })
  const mutation = (composition: string, type = '') =>
    `mutation ${type} { putAtmosphere(planetId: "prototypical", input: { composition: ${composition} }) { outcome } }`
  for (const name of ['__proto__', 'constructor', 'prototype', 'hasOwnProperty']) {
    const sent = JSON.parse(`{ "composition": { "${name}": 0.5 } }`)
    t.is((await writer.put(`${planet}/atmosphere`, sent)).status, 400, name)
    t.is((await writer.patch(`${planet}/atmosphere`, sent)).status, 400, name)
    const literal = await writer.graphql(mutation(`{ ${name}: 0.5 }`))
    t.is(literal.errors?.[0].extensions.code, 'VALIDATION_FAILED', name)
    const patch = `mutation { patchAtmosphere(planetId: "prototypical", patch: { composition: { ${name}: 0.5 } }) { outcome } }`
    t.is((await writer.graphql(patch)).errors?.[0].extensions.code, 'VALIDATION_FAILED', name)
    if (name === '__proto__') continue
    const variable = await writer.graphql(mutation('$c', '($c: Fractions)'), { c: sent.composition })
    t.is(variable.errors?.[0].extensions.code, 'VALIDATION_FAILED', name)
  }
  t.deepEqual((await writer.get(`${planet}/atmosphere`)).body.composition, { argon: 0.1 })
})

test('a reserved name that is stored already can be removed', async (t) => {
  const { writer, database } = service()
  const planet = await planetNamed('legacy')
  await writer.put(`${planet}/atmosphere`, { composition: { argon: 0.1 } })
  const composition = { neon: 0.2 }
  const changes = [
    () => writer.patch(`${planet}/atmosphere`, { composition: null }),
    () => writer.put(`${planet}/atmosphere`, {}),
    () => writer.put(`${planet}/atmosphere`, { composition }),
  ]
  for (const change of changes) {
    await database.client.$executeRaw`
      UPDATE atmosphere SET composition = '{"__proto__": 0.5, "constructor": 0.1}' WHERE planet_id = 'legacy'`
    t.is((await change()).status, 204)
    const { body } = await writer.get(`${planet}/atmosphere`)
    t.true(body.composition === undefined || Object.keys(body.composition).join() === 'neon')
  }
  await database.client.$executeRaw`
    UPDATE atmosphere SET composition = '{"constructor": 0.1}' WHERE planet_id = 'legacy'`
  await t.throwsAsync(
    database.client
      .$executeRaw`UPDATE atmosphere SET composition = '{"gas": 1.1}' WHERE planet_id = 'legacy'`,
    { message: /composition_of_one_whole/ },
  )
  // It is merged with what is stored, and the result is as invalid as that.
  t.is((await writer.patch(`${planet}/atmosphere`, { composition })).status, 400)
})
