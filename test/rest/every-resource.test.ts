import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import { resources } from '../helpers/domain/domain.ts'
import { type Body, Fixtures, resourcePath, withValue, writtenPart } from '../helpers/domain/fixtures.ts'
import { representatives } from '../helpers/domain/representatives.ts'
import { awkwardValues } from '../helpers/domain/sample-value.ts'
import { shareServiceOfSuite } from '../helpers/service/service.ts'

// One request after the other: side by side they would only wait for the same database.
const service = shareServiceOfSuite(test)
const fixtures = () => new Fixtures(service().writer)
const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** The version that an entity tag names. */
function versionOf({ headers }: { headers: Headers }): number {
  return Number(/:(\d+)"$/.exec(headers.get('etag') ?? '')?.[1])
}

function withoutMember(body: Body, [outer, inner]: [string, string]): Body {
  const { [inner]: _, ...rest } = body[outer]
  return { ...body, [outer]: rest }
}

for (const resource of resources) {
  const { path, listed, replaceable } = resource

  test.serial(`${path}: it is created, read, listed, changed and deleted`, async (t) => {
    const { reader, writer } = service()
    const { path: address, collection, body, id } = await fixtures().create(resource)
    t.deepEqual(writtenPart(resource, (await reader.get(address)).body), body)
    if (listed) t.is((await reader.get(`${collection}?id=${id}`)).body.total_count, 1)
    if (replaceable) t.is((await writer.patch(address, await fixtures().body(resource))).status, 204)
    t.is((await writer.delete(address)).status, 204)
    t.is((await reader.get(address)).status, 410)
  })
}

for (const resource of representatives) {
  const { path, kind, createdField } = resource
  const { listed, replaceable } = resource

  test.serial(`${path}: a create returns the whole resource, and a read returns the same`, async (t) => {
    const { answer, body, path: address, id } = await fixtures().create(resource)
    t.is(answer.status, 201)
    t.is(answer.headers.get('location'), service().base + address)
    t.is(answer.headers.get('content-type'), 'application/json; charset=utf-8')
    t.deepEqual(writtenPart(resource, answer.body), body)
    t.regex(answer.body[createdField], STAMP)
    t.is(answer.body.last_updated, answer.body[createdField])
    const read = await service().reader.get(address)
    t.is(read.status, 200)
    t.deepEqual({ ...read.body, _links: null }, { ...answer.body, _links: null })
    t.is(read.headers.get('etag'), answer.headers.get('etag'))
    t.is(read.headers.get('etag'), `"${id}:1"`)
    t.is(read.headers.get('last-modified'), new Date(answer.body.last_updated).toUTCString())
  })

  test.serial(
    `${path}: the required fields are enough, and fields that are not set are absent`,
    async (t) => {
      const body = await fixtures().minimalBody(resource)
      const { answer, path: address } = await fixtures().create(resource, { body })
      const defaults = resource.writable.filter(({ field }) => field.type === 'enumeration')
      const shown = Object.keys(writtenPart(resource, answer.body)).filter((name) => !(name in body))
      t.deepEqual(
        shown.filter((name) => !defaults.some((leaf) => leaf.name === name)),
        [],
      )
      t.false(JSON.stringify((await service().reader.get(address)).body).includes(':null'))
    },
  )

  test.serial(`${path}: null on create counts as absent`, async (t) => {
    const body = await fixtures().minimalBody(resource)
    const optional = resource.writable.filter(({ field }) => !field.required)
    const withNulls = optional.reduce((all, leaf) => withValue(all, leaf, null), body)
    const { answer } = await fixtures().create(resource, { body: withNulls })
    const again = await fixtures().create(resource, { body: await fixtures().minimalBody(resource) })
    t.deepEqual(Object.keys(answer.body), Object.keys(again.answer.body))
  })

  test.serial(`${path}: unusual values are returned exactly`, async (t) => {
    const parentId = await fixtures().parent(resource)
    for (const leaf of resource.writable) {
      if (leaf.field.type === 'reference') continue
      for (const [index, awkward] of awkwardValues(leaf.field).entries()) {
        // Species bring planets along that have their names: no two resources may share one.
        const value = leaf.field.type === 'text' ? `${path} ${leaf.name} ${index}${awkward}` : awkward
        const body = withValue(await fixtures().minimalBody(resource), leaf, value)
        const owner = kind === 'singleton' ? await fixtures().parent(resource) : parentId
        const collection = resourcePath(resource, owner, '').replace(/\/$/, '')
        const method = listed ? 'POST' : 'PUT'
        const { status, body: answer } = await service().writer.request(method, collection, body)
        // A rule of the resource may refuse what its fields allow.
        if (status === 422) continue
        t.is(status, 201, `${leaf.name} ${JSON.stringify(value)}: ${JSON.stringify(answer)}`)
        const { body: read } = await service().reader.get(answer._links.self.href)
        t.deepEqual(
          leaf.path.reduce((inner, name) => inner?.[name], read),
          value,
        )
      }
    }
  })

  test.serial(`${path}: deleting is idempotent, and a deleted resource is gone and not listed`, async (t) => {
    const { reader, writer } = service()
    const { path: address, collection, id } = await fixtures().create(resource)
    for (let times = 0; times < 2; times++) {
      const { status, text } = await writer.delete(address)
      t.deepEqual([status, text], [204, ''])
    }
    const read = await reader.get(address)
    t.deepEqual([read.status, read.body.error.code], [410, 'RESOURCE_GONE'])
    t.is((await reader.head(address)).status, 410)
    if (listed) t.is((await reader.get(`${collection}?id=${id}`)).body.total_count, 0)
    const strict = await writer.delete(address, { Prefer: 'handling=strict' })
    t.deepEqual([strict.status, strict.body.error.code], [410, 'RESOURCE_GONE'])
  })

  test.serial(`${path}: a resource that never existed is 404 to reads, and 204 to DELETE`, async (t) => {
    const { reader, writer } = service()
    const parentId = await fixtures().parent(resource)
    const identifiers = listed
      ? ['never-was', 'with%20blank', '%00', 'x'.repeat(65), '%E2%82%AC', '%zz']
      : ['-']
    for (const id of identifiers) {
      const address = resourcePath(resource, parentId, id)
      const read = await reader.get(address)
      t.deepEqual([read.status, read.body.error.code], [404, 'RESOURCE_NOT_FOUND'], id)
      t.is((await writer.delete(address)).status, 204, id)
      const strict = await writer.delete(address, { Prefer: 'handling=strict' })
      t.deepEqual([strict.status, strict.body?.error.code], [404, 'RESOURCE_NOT_FOUND'], id)
      if (!replaceable) continue
      const patched = await writer.patch(address, {})
      t.deepEqual([patched.status, patched.body.error.code], [404, 'RESOURCE_NOT_FOUND'], id)
    }
  })

  if (replaceable) {
    test.serial(
      `${path}: PUT creates with a chosen identifier, then replaces, and clears what is left out`,
      async (t) => {
        const { reader, writer } = service()
        const parentId = await fixtures().parent(resource)
        const id = listed ? 'Chosen_1.~-' : (parentId as string)
        const address = resourcePath(resource, parentId, id)
        const body = await fixtures().body(resource)
        const created = await writer.put(address, { ...body, id })
        t.is(created.status, 201, created.text)
        t.is(created.body.id, id)
        t.is(created.headers.get('location'), service().base + address)
        t.is(versionOf(created), 1)
        t.deepEqual(writtenPart(resource, created.body), body)
        const minimal = await fixtures().minimalBody(resource)
        const replaced = await writer.put(address, minimal)
        t.deepEqual([replaced.status, replaced.text, versionOf(replaced)], [204, '', 2])
        const read = await reader.get(address)
        t.is(read.headers.get('etag'), replaced.headers.get('etag'))
        t.is(read.headers.get('last-modified'), replaced.headers.get('last-modified'))
        t.is(read.body[createdField], created.body[createdField])
        t.true(read.body.last_updated >= created.body.last_updated)
        const shown = writtenPart(resource, read.body)
        for (const name of Object.keys(minimal)) t.deepEqual(shown[name], minimal[name])
        for (const { name, field } of resource.writable) {
          const stays = name in minimal || name.includes('.') || field.type === 'enumeration'
          if (!stays) t.false(name in shown, name)
        }
      },
    )

    for (const type of ['application/json', 'application/hal+json', 'application/prs.hal-forms+json'])
      test.serial(
        `${path}: the response of GET can be sent by PUT as ${type}, and changes nothing`,
        async (t) => {
          const { reader, writer } = service()
          const { path: address } = await fixtures().create(resource)
          const tag = async () => (await reader.get(address)).headers.get('etag')
          const before = await tag()
          // With the templates of a caller that may write.
          const client = writer.accepting(type)
          const { body, headers } = await client.get(address)
          t.is('_templates' in body, type.includes('forms'))
          const own = ['self', 'collection', 'parent', 'edit', 'delete']
          const relations = Object.keys(body._links).filter((name) => !own.includes(name))
          const embedded =
            relations.length > 0 ? await client.get(`${address}?embed=${relations}`) : undefined
          t.is(embedded?.status ?? 200, 200)
          for (const sent of [body, embedded?.body ?? body]) {
            for (const method of ['PUT', 'PATCH']) {
              const answer = await writer.request(method, address, sent, {
                'content-type': headers.get('content-type') as string,
                'if-match': headers.get('etag') as string,
              })
              t.deepEqual([answer.status, answer.headers.get('etag')], [204, before], answer.text)
            }
            const operation = { method: 'PUT', path: address, headers: { 'content-type': type }, body: sent }
            t.is((await writer.post('/batch', { operations: [operation] })).status, 200)
          }
          t.is(await tag(), before)
        },
      )

    test.serial(
      `${path}: a patch changes what it names, removes what is null, and leaves the rest`,
      async (t) => {
        const { reader, writer } = service()
        const { path: address, body } = await fixtures().create(resource)
        const other = await fixtures().body(resource)
        let expected = body
        let version = 1
        for (const [name, value] of Object.entries(other)) {
          if (resource.fields[name]?.type === 'fractions') continue
          const patched = await writer.patch(
            address,
            { [name]: value },
            {
              'content-type': 'application/merge-patch+json',
            },
          )
          version += isDeepStrictEqual(value, expected[name]) ? 0 : 1
          expected = { ...expected, [name]: value }
          t.deepEqual([patched.status, patched.text, versionOf(patched)], [204, '', version], name)
          t.truthy(patched.headers.get('last-modified'))
          t.deepEqual(writtenPart(resource, (await reader.get(address)).body), expected)
        }
        const member = resource.writable.find((leaf) => leaf.path.length > 1)
        if (member) {
          const { status } = await writer.patch(address, withValue({}, member, null))
          expected = withoutMember(expected, member.path as [string, string])
          t.is(status, 204)
          t.deepEqual(writtenPart(resource, (await reader.get(address)).body), expected)
        }
        const removable = Object.keys(body).filter((name) => {
          const field = resource.fields[name]
          return field?.type === 'group' || !(field?.required || field?.type === 'enumeration')
        })
        const patched = await writer.patch(address, Object.fromEntries(removable.map((name) => [name, null])))
        t.is(patched.status, 204, patched.text)
        const left = Object.keys(writtenPart(resource, (await reader.get(address)).body))
        t.deepEqual(
          left,
          Object.keys(body).filter((name) => !removable.includes(name)),
        )
      },
    )

    test.serial(
      `${path}: a deleted resource can be created again by PUT, and its version continues`,
      async (t) => {
        const { reader, writer } = service()
        const { path: address, body, id, answer } = await fixtures().create(resource)
        await writer.delete(address)
        t.is((await writer.patch(address, {})).status, 404)
        const again = await writer.put(address, { ...body, id })
        t.deepEqual([again.status, versionOf(again)], [201, 2], again.text)
        t.deepEqual(writtenPart(resource, again.body), body)
        const stale = { 'If-Match': answer.headers.get('etag') as string }
        t.is((await writer.put(address, body, stale)).status, 409)
        t.is((await reader.get(address)).status, 200)
      },
    )
  } else {
    test.serial(`${path}: it cannot be replaced or patched`, async (t) => {
      const { writer } = service()
      const { path: address, body, id } = await fixtures().create(resource)
      for (const method of ['PUT', 'PATCH']) {
        const { status, headers } = await writer.request(method, address, { ...body, id })
        t.deepEqual([status, headers.get('allow')], [405, 'GET, HEAD, DELETE, OPTIONS'])
      }
    })
  }
}
