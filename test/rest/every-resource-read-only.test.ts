import test from 'ava'
import { collectionPath, Fixtures } from '../helpers/domain/fixtures.ts'
import { representatives } from '../helpers/domain/representatives.ts'
import type { Answer, Json } from '../helpers/service/client.ts'
import { shareServiceOfSuite } from '../helpers/service/service.ts'

// One request after the other: side by side they would only wait for the same database.
const service = shareServiceOfSuite(test)
const fixtures = () => new Fixtures(service().writer)

/** What an answer says is wrong, in short: `name REQUIRED_FIELD`. */
function problems({ body }: Answer): string[] {
  return body.error.details.map(({ field, code }: Json) => `${field} ${code}`)
}

for (const resource of representatives) {
  const { path, createdField } = resource
  const { listed, replaceable } = resource

  test.serial(`${path}: read-only fields are ignored on create`, async (t) => {
    const { writer } = service()
    const readOnly = resource.leaves.filter(({ field, name }) => field.readOnly && name !== 'id')
    const echoes = Object.fromEntries(readOnly.map(({ name }) => [name, '2001-01-01T00:00:00.000Z']))
    const parentId = await fixtures().parent(resource)
    const collection = collectionPath(resource, parentId)
    const body = { ...(await fixtures().body(resource)), ...echoes }
    const created = await (listed
      ? writer.post(collection, { ...body, id: 'mine' })
      : writer.put(collection, body))
    t.is(created.status, 201, created.text)
    t.not(created.body.id, 'mine')
    t.not(created.body[createdField], echoes[createdField])
    if (!(listed && replaceable)) return
    const put = await writer.put(`${collection}/mine`, {
      ...(await fixtures().body(resource)),
      ...echoes,
      id: 'mine',
    })
    t.deepEqual([put.status, put.body.id], [201, 'mine'], put.text)
    t.not(put.body[createdField], echoes[createdField])
  })

  if (listed) {
    test.serial(
      `${path}: POST with the id of an existing resource is a conflict, and any other id is ignored`,
      async (t) => {
        const { writer } = service()
        const { collection, id, parentId } = await fixtures().create(resource)
        const conflict = await writer.post(collection, { ...(await fixtures().body(resource)), id })
        t.deepEqual(
          [conflict.status, conflict.body.error.code],
          [409, 'RESOURCE_ALREADY_EXISTS'],
          conflict.text,
        )
        t.deepEqual(problems(conflict), ['id DUPLICATE_VALUE'])
        if (parentId !== undefined) {
          const other = collectionPath(resource, await fixtures().parent(resource))
          t.is((await writer.post(other, { ...(await fixtures().body(resource)), id })).status, 201)
        }
        for (const free of ['free', 'a b', '\0', '', 5, { a: 1 }]) {
          const created = await writer.post(collection, { ...(await fixtures().body(resource)), id: free })
          t.is(created.status, 201, created.text)
          t.not(created.body.id, free)
        }
      },
    )
  }

  if (replaceable) {
    test.serial(`${path}: a read-only field with another value is READ_ONLY_FIELD`, async (t) => {
      const { writer, reader } = service()
      const { path: address, body, answer } = await fixtures().create(resource)
      for (const { name } of resource.shownLeaves.filter(({ field }) => field.readOnly)) {
        for (const value of ['2001-01-01T00:00:00.000Z', 5, { a: 1 }]) {
          const refused = [
            await writer.put(address, { ...body, [name]: value }),
            await writer.patch(address, { [name]: value }),
          ]
          for (const { status, text, ...rest } of refused) {
            t.is(status, 400, `${name}: ${text}`)
            t.deepEqual(problems({ status, text, ...rest }), [`${name} READ_ONLY_FIELD`])
          }
        }
      }
      t.is((await reader.get(address)).headers.get('etag'), answer.headers.get('etag'))
    })

    test.serial(
      `${path}: null for a read-only field counts as absent on PUT, and asks for its removal on PATCH`,
      async (t) => {
        const { writer } = service()
        const { path: address, body, answer } = await fixtures().create(resource)
        for (const { name } of resource.shownLeaves.filter(({ field }) => field.readOnly)) {
          t.is((await writer.put(address, { ...body, [name]: null })).status, 204, name)
          const patched = await writer.patch(address, { [name]: null })
          const isSet = name in answer.body
          t.deepEqual([name, patched.status], [name, isSet ? 400 : 204])
          if (isSet) t.deepEqual(problems(patched), [`${name} READ_ONLY_FIELD`])
        }
      },
    )

    test.serial(
      `${path}: an honest echo of an earlier last_updated is accepted, one from the future is not`,
      async (t) => {
        const { writer, reader } = service()
        const { path: address, answer } = await fixtures().create(resource)
        const changed = await writer.put(address, await fixtures().body(resource))
        t.is(changed.status, 204, changed.text)
        const { body: now } = await reader.get(address)
        t.is((await writer.put(address, { ...now, last_updated: answer.body.last_updated })).status, 204)
        const later = new Date(Date.parse(now.last_updated) + 1).toISOString()
        const earlier = new Date(Date.parse(now[createdField]) - 1).toISOString()
        for (const last_updated of [later, earlier]) {
          const refused = await writer.put(address, { ...now, last_updated })
          t.deepEqual([refused.status, ...problems(refused)], [400, 'last_updated READ_ONLY_FIELD'])
        }
      },
    )
  }

  if (replaceable && listed) {
    test.serial(
      `${path}: PUT without conditions creates only where the body names the identifier of the path`,
      async (t) => {
        const { writer, reader } = service()
        const { collection } = await fixtures().create(resource)
        const body = await fixtures().body(resource)
        for (const [id, status, code] of [
          [undefined, 404, 'RESOURCE_NOT_FOUND'],
          [null, 404, 'RESOURCE_NOT_FOUND'],
          ['other', 400, 'VALIDATION_FAILED'],
          [1, 400, 'VALIDATION_FAILED'],
        ]) {
          const refused = await writer.put(`${collection}/new`, { ...body, id })
          t.deepEqual([refused.status, refused.body?.error.code], [status, code], `${id}`)
          t.is((await reader.get(`${collection}/new`)).status, 404)
        }
        const advice = await writer.put(`${collection}/new`, body)
        t.regex(advice.body.error.message, /\bid\b.*If-None-Match/)
      },
    )

    test.serial(`${path}: PUT under an identifier that cannot be one is refused`, async (t) => {
      const { collection } = await fixtures().create(resource)
      const body = await fixtures().body(resource)
      for (const id of ['a b', 'a/b', 'ü', 'x'.repeat(65), '\0', 'a:b']) {
        const refused = await service().writer.put(`${collection}/${encodeURIComponent(id)}`, { ...body, id })
        t.deepEqual([refused.status, ...problems(refused)], [400, 'id INVALID_VALUE'], JSON.stringify(id))
      }
    })
  }
}
