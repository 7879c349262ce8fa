import test from 'ava'
import { resources } from '../helpers/domain.ts'
import { Fixtures, writtenPart } from '../helpers/fixtures.ts'
import { shareTestService } from '../helpers/service.ts'

const service = shareTestService(test, { unknownFields: 'ignore' })

for (const resource of resources) {
  const { path, replaceable, listed } = resource

  test.serial(`${path}: with UNKNOWN_FIELDS=ignore, fields that it does not have are ignored`, async (t) => {
    const { writer, reader } = service()
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
  const { anonymous, base } = service()
  const { schemas } = (await anonymous.get(`${base}/openapi.json`)).body.components
  for (const name of ['SpeciesInput', 'SpeciesPatch']) t.true(schemas[name].additionalProperties, name)
  t.true(schemas.SpeciesInput.properties.temperature_range.additionalProperties)
  t.is((await anonymous.get(`${base}/profile/species`)).body.policies.body.unknown_fields, 'ignored')
})
