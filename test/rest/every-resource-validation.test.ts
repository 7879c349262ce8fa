import test from 'ava'
import type { Leaf, Resource } from '../../src/model/definition/resource.ts'
import { type Body, type Created, Fixtures, withValue } from '../helpers/domain/fixtures.ts'
import { representatives } from '../helpers/domain/representatives.ts'
import { wrongTypes } from '../helpers/domain/sample-value.ts'
import type { Answer, Json } from '../helpers/service/client.ts'
import { shareServiceOfSuite } from '../helpers/service/service.ts'

// One request after the other: side by side they would only wait for the same database.
const service = shareServiceOfSuite(test)
const fixtures = () => new Fixtures(service().writer)

interface Target extends Created {
  /** Every write that the resource has, with this body or patch. */
  send(body: Json): Promise<Answer[]>
}

/** A resource, and a way to try a bad body on each operation that takes one. */
async function target(resource: Resource): Promise<Target> {
  const { listed, replaceable } = resource
  const created = await fixtures().create(resource)
  const { writer } = service()
  const send = (body: Json) =>
    Promise.all([
      ...(listed ? [writer.post(created.collection, body)] : []),
      ...(replaceable ? [writer.put(created.path, body), writer.patch(created.path, body)] : []),
    ])
  return { ...created, send }
}

/** What an answer says is wrong, in short: `name REQUIRED_FIELD`. */
function problems({ body }: Answer): string[] {
  return body.error.details.map(({ field, code }: Json) => `${field} ${code}`)
}

/** Bad values of a leaf with the code of each. */
function badValues({ field }: Leaf): [Json, string][] {
  const bad: [Json, string][] = wrongTypes(field).map((value) => [value, 'INVALID_TYPE'])
  if (field.type === 'text') {
    bad.push(
      ['a\0b', 'INVALID_VALUE'],
      ['\ud800', 'INVALID_VALUE'],
      ['x'.repeat(field.maximumLength + 1), 'TOO_LONG'],
    )
  }
  if (field.type === 'json') {
    bad.push(
      ['x'.repeat(field.maximumBytes - 1), 'TOO_LONG'],
      [['\0'], 'INVALID_VALUE'],
      [{ '\ud800': 1 }, 'INVALID_VALUE'],
    )
  }
  if (field.type === 'text' && field.format) bad.push(['x', 'INVALID_FORMAT'])
  if (field.type === 'decimal') {
    const malformed = ['', 'abc', '1e3', '1,5', `1.${'0'.repeat(field.scale)}5`, 0.1, 1e-7]
    bad.push(...malformed.map((value): [Json, string] => [value, 'INVALID_FORMAT']))
    bad.push([`1${'0'.repeat(field.precision)}`, 'OUT_OF_RANGE'], [1e21, 'INVALID_FORMAT'])
    if (field.minimum !== undefined) bad.push([String(field.minimum - 1), 'OUT_OF_RANGE'])
  }
  if (field.type === 'enumeration') bad.push(['no such word', 'INVALID_VALUE'], ['', 'INVALID_VALUE'])
  if (field.type === 'timestamp') {
    const malformed = [
      'yesterday',
      '',
      '2031-02-30',
      '2031-13-01T00:00:00Z',
      '2031-04-05T06:07:08.1234Z',
      '20310405',
    ]
    bad.push(...malformed.map((value): [Json, string] => [value, 'INVALID_FORMAT']))
  }
  if (field.type === 'number' || field.type === 'integer') {
    if (field.minimum !== undefined) bad.push([field.minimum - 1, 'OUT_OF_RANGE'])
    if (field.maximum !== undefined) bad.push([field.maximum + 1, 'OUT_OF_RANGE'])
  }
  return bad
}

for (const resource of representatives) {
  const { path } = resource
  const { listed, replaceable } = resource

  test.serial(`${path}: a value that does not fit its field is refused, and nothing changes`, async (t) => {
    const { send, path: address, answer, body } = await target(resource)
    for (const leaf of resource.writable) {
      for (const [value, code] of badValues(leaf)) {
        for (const refused of await send(withValue(body, leaf, value))) {
          const said = `${leaf.name} ${JSON.stringify(value)}: ${refused.text}`
          t.deepEqual([refused.status, refused.body?.error.code], [400, 'VALIDATION_FAILED'], said)
          t.deepEqual(problems(refused), [`${leaf.name} ${code}`], said)
        }
      }
    }
    t.is((await service().reader.get(address)).headers.get('etag'), answer.headers.get('etag'))
  })

  test.serial(`${path}: a number that no double can hold is refused`, async (t) => {
    const { writer } = service()
    const { path: address, collection, body } = await fixtures().create(resource)
    for (const leaf of resource.writable.filter(({ field }) => field.type === 'number')) {
      const text = JSON.stringify(withValue(body, leaf, 'HUGE')).replace('"HUGE"', '1e400')
      const refused = await (listed ? writer.post(collection, text) : writer.put(address, text))
      t.deepEqual([refused.status, ...problems(refused)], [400, `${leaf.name} OUT_OF_RANGE`])
    }
    t.pass()
  })

  test.serial(`${path}: all problems of a body are reported at once, in field order`, async (t) => {
    const { send } = await target(resource)
    const names = Object.entries(resource.fields)
      // A field of the type json takes any value.
      .filter(
        ([, field]) => !(field.type !== 'group' && (field.readOnly || field.hidden || field.type === 'json')),
      )
      .map(([name]) => name)
    const wrong: Body = Object.fromEntries([...names].reverse().map((name) => [name, [1]]))
    for (const refused of await send({ 'no such field': 1, ...wrong })) {
      const expected = [...names.map((name) => `${name} INVALID_TYPE`), 'no such field UNKNOWN_FIELD']
      t.deepEqual([refused.status, ...problems(refused)], [400, ...expected])
    }
  })

  test.serial(
    `${path}: an unknown field is refused, in a group as well, and _links and _embedded are ignored`,
    async (t) => {
      const { send, body, path: address } = await target(resource)
      const names = ['no_such_field', 'constructor', 'toString', 'version', 'Id']
      for (const name of names) {
        for (const refused of await send({ ...body, [name]: 'x' })) {
          t.deepEqual([refused.status, ...problems(refused)], [400, `${name} UNKNOWN_FIELD`])
        }
      }
      for (const [name, field] of Object.entries(resource.fields)) {
        if (field.type !== 'group') continue
        for (const refused of await send({ ...body, [name]: { ...body[name], other: 1 } })) {
          t.deepEqual([refused.status, ...problems(refused)], [400, `${name}.other UNKNOWN_FIELD`])
        }
      }
      if (!replaceable) return
      const { status } = await service().writer.put(address, { ...body, _links: 1, _embedded: null })
      t.is(status, 204)
    },
  )

  test.serial(`${path}: a missing, null, empty or blank required field is REQUIRED_FIELD`, async (t) => {
    const { send, body } = await target(resource)
    for (const leaf of resource.writable.filter(({ field }) => field.required)) {
      const { [leaf.name]: _, ...without } = body
      const blank = leaf.field.type === 'text' ? ['', ' \t\n\u00a0'] : []
      for (const value of [null, ...blank]) {
        for (const refused of await send({ ...body, [leaf.name]: value })) {
          t.deepEqual([refused.status, ...problems(refused)], [400, `${leaf.name} REQUIRED_FIELD`])
        }
      }
      const missing = (await send(without)).filter(({ status }) => status !== 204)
      t.is(missing.length, Number(listed) + Number(replaceable), 'only a patch may leave it out')
      for (const refused of missing) {
        t.deepEqual([refused.status, ...problems(refused)], [400, `${leaf.name} REQUIRED_FIELD`])
      }
    }
    t.pass()
  })

  test.serial(`${path}: a body that is not a JSON object is refused`, async (t) => {
    const { send } = await target(resource)
    for (const text of ['[]', '"text"', '1', 'true', 'null', '[{}]']) {
      for (const refused of await send(text)) {
        t.deepEqual([refused.status, refused.body.error.code], [400, 'VALIDATION_FAILED'], text)
      }
    }
    const malformed = [
      '',
      '{',
      '{"a":1,}',
      "{'a':1}",
      'undefined',
      '{} {}',
      '\ufeff',
      '{"__proto__":{"a":1}}',
    ]
    for (const text of malformed) {
      for (const refused of await send(text)) {
        t.deepEqual([refused.status, refused.body.error.code], [400, 'MALFORMED_JSON'], text)
      }
    }
    for (const refused of await send(new Uint8Array([0x22, 0xff, 0x22]))) {
      t.deepEqual([refused.status, refused.body.error.code], [400, 'MALFORMED_JSON'])
    }
  })
}
