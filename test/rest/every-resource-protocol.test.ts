import test from 'ava'
import type { Resource } from '../../src/model/definition/resource.ts'
import { resources } from '../helpers/domain/domain.ts'
import { Fixtures, resourcePath } from '../helpers/domain/fixtures.ts'
import { representatives } from '../helpers/domain/representatives.ts'
import { shareServiceOfSuite } from '../helpers/service/service.ts'

// One request after the other: side by side they would only wait for the same database.
const service = shareServiceOfSuite(test)
const fixtures = () => new Fixtures(service().writer)

/** The methods that change something, with the address and a body for each. */
async function writes(resource: Resource, id = 'absent'): Promise<[string, string, unknown][]> {
  const { listed, replaceable } = resource
  const { collection, parentId } = await fixtures().create(resource)
  const address = resourcePath(resource, parentId, id)
  const all: [string, string, unknown, boolean][] = [
    ['POST', collection, await fixtures().body(resource), listed],
    ['PUT', address, { ...(await fixtures().body(resource)), ...(listed && { id }) }, replaceable],
    ['PATCH', address, {}, replaceable],
    ['DELETE', address, undefined, true],
  ]
  return all.filter(([, , , exists]) => exists).map(([method, at, body]) => [method, at, body])
}

for (const resource of representatives) {
  const { path } = resource
  const { listed, replaceable } = resource

  test.serial(`${path}: without a token every request is 401`, async (t) => {
    const { anonymous } = service()
    const { path: address, collection } = await fixtures().create(resource)
    for (const at of [address, collection, `${address}/`, `${collection}/none`]) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const { status, headers } = await anonymous.request(method, at)
        t.deepEqual([method, at, status, headers.get('www-authenticate')], [method, at, 401, 'Bearer'])
      }
    }
  })

  test.serial(
    `${path}: reading needs its read scope and writing its write scope, before any look-up`,
    async (t) => {
      const { withScope } = service()
      const { path: address, collection, parentId } = await fixtures().create(resource)
      const missing = resourcePath(resource, parentId, 'never-was')
      const changes = [...(await writes(resource)), ...(await writes(resource, 'never-was'))]
      const others = resources
        .filter((other) => other !== resource)
        .map((other) => `${other.path}:read ${other.path}:write`)
      for (const scope of [
        '',
        'openid',
        others.join(' '),
        `${path}:write *:write`,
        'x*:read',
        `${path.toUpperCase()}:read`,
      ]) {
        const client = withScope(scope)
        for (const at of [address, collection, missing]) {
          const { status, body } = await client.get(at)
          t.deepEqual([scope, at, status, body.error?.code], [scope, at, 403, 'ACCESS_DENIED'])
        }
      }
      for (const scope of ['', others.join(' '), `${path}:read *:read`]) {
        for (const [method, at] of changes) {
          const { status, body } = await withScope(scope).request(
            method,
            at,
            method === 'DELETE' ? undefined : '{',
          )
          t.deepEqual([scope, method, status, body?.error.code], [scope, method, 403, 'ACCESS_DENIED'])
        }
      }
      t.is((await withScope(`${path}:read`).get(address)).status, 200)
      t.is((await withScope(`a:b  ${path}:write`).delete(address)).status, 204)
    },
  )

  test.serial(`${path}: other methods are 405, and OPTIONS lists the allowed ones`, async (t) => {
    const { writer, withScope } = service()
    const { path: address, collection } = await fixtures().create(resource)
    const item = ['GET', 'HEAD', ...(replaceable ? ['PUT', 'PATCH'] : []), 'DELETE', 'OPTIONS']
    const expected = { ...(listed && { [collection]: ['GET', 'HEAD', 'POST', 'OPTIONS'] }), [address]: item }
    for (const [at, allowed] of Object.entries(expected)) {
      const options = await withScope('').options(at)
      t.deepEqual([options.status, options.text], [204, ''])
      t.is(options.headers.get('allow'), allowed.join(', '))
      const patchable = allowed.includes('PATCH')
      t.is(options.headers.get('accept-patch')?.includes('application/merge-patch+json') ?? false, patchable)
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'].filter(
        (name) => !allowed.includes(name),
      )) {
        const refused = await writer.request(method, at, method === 'DELETE' ? undefined : {})
        t.deepEqual([method, refused.status, refused.body.error.code], [method, 405, 'METHOD_NOT_ALLOWED'])
        t.is(refused.headers.get('allow'), allowed.join(', '))
      }
    }
  })

  test.serial(`${path}: HEAD answers as GET does, without the body`, async (t) => {
    const { reader } = service()
    const { path: address, collection } = await fixtures().create(resource)
    for (const at of [address, collection, `${address}x`]) {
      const get = await reader.get(at)
      const head = await reader.head(at)
      t.deepEqual([head.status, head.text], [get.status, ''])
      for (const name of ['content-type', 'content-length', 'etag', 'last-modified', 'vary']) {
        t.is(head.headers.get(name), get.headers.get(name), name)
      }
    }
  })

  test.serial(
    `${path}: another case, a trailing slash or one segment more is another address: 404`,
    async (t) => {
      const { reader } = service()
      const { path: address, collection } = await fixtures().create(resource)
      const others = [
        `${address}/`,
        `${address}/more`,
        collection.replace(path, path.toUpperCase()),
        `/${address}`,
      ]
      if (listed) others.push(`${collection}/`)
      for (const at of others) {
        const { status, body } = await reader.get(at)
        t.deepEqual([at, status, body.error?.code], [at, 404, 'RESOURCE_NOT_FOUND'])
      }
    },
  )

  test.serial(
    `${path}: the answer is application/json, or application/hal+json where that is preferred`,
    async (t) => {
      const { reader } = service()
      const { path: address, collection } = await fixtures().create(resource)
      for (const at of [address, collection]) {
        for (const [accept, type] of [
          ['*/*', 'application/json; charset=utf-8'],
          ['application/json', 'application/json; charset=utf-8'],
          ['application/json, application/hal+json;q=0.9', 'application/json; charset=utf-8'],
          ['image/png, application/*;q=0.5', 'application/json; charset=utf-8'],
          ['application/hal+json', 'application/hal+json'],
          ['application/json;q=0.8, application/hal+json', 'application/hal+json'],
          ['image/png, application/hal+json;q=0.1', 'application/hal+json'],
        ] as const) {
          const { status, headers } = await reader.get(at, { accept })
          t.deepEqual([accept, status, headers.get('content-type')], [accept, 200, type])
          t.regex(headers.get('vary') as string, /\bAccept\b/)
        }
        for (const accept of ['image/png', 'application/xml, image/*', 'application/json;q=0']) {
          const { status, body } = await reader.get(at, { accept })
          t.deepEqual([accept, status, body?.error.code], [accept, 406, 'NOT_ACCEPTABLE'])
        }
      }
      for (const [method, at, body] of await writes(resource)) {
        t.is((await service().writer.request(method, at, body, { accept: 'image/png' })).status, 406, method)
      }
    },
  )

  test.serial(
    `${path}: parameters of a media range other than its weight are not looked at, on any method`,
    async (t) => {
      const { reader, writer } = service()
      const { path: address } = await fixtures().create(resource)
      for (const [accept, type] of [
        ['application/json; charset=utf-8', 'application/json; charset=utf-8'],
        ['application/json;version=1', 'application/json; charset=utf-8'],
        ['application/hal+json;charset=UTF-8', 'application/hal+json'],
        [
          'application/json;v="a,b;q=0";q=0.5, application/hal+json ; profile=x ; q=0.6',
          'application/hal+json',
        ],
        [
          'application/hal+json;version=2;q=0.1, application/json;version=2',
          'application/json; charset=utf-8',
        ],
      ] as const) {
        const { status, headers } = await reader.get(address, { accept })
        t.deepEqual([accept, status, headers.get('content-type')], [accept, 200, type])
      }
      for (const accept of [
        'application/json;q=0;version=1',
        'application/json;charset=utf-8; q=0',
        'text/csv;a=1',
      ]) {
        t.is((await reader.get(address, { accept })).status, 406, accept)
      }
      for (const [method, at, body] of await writes(resource)) {
        const { status } = await writer.request(method, at, body, {
          accept: 'application/json; charset=utf-8',
        })
        t.not(status, 406, method)
      }
    },
  )

  test.serial(`${path}: bodies in other types are 415, and no larger than 1 MiB: 413`, async (t) => {
    const { writer } = service()
    for (const [method, at, body] of await writes(resource)) {
      if (body === undefined) continue
      const types = [
        'text/plain',
        'application/xml',
        'application/json; charset=utf-16',
        'application/x-www-form-urlencoded',
        'json',
      ]
      if (method !== 'PATCH') types.push('application/merge-patch+json')
      for (const type of types) {
        const refused = await writer.request(method, at, body, { 'content-type': type })
        t.deepEqual([method, type, refused.status], [method, type, 415], refused.text)
        t.is(refused.body.error.code, 'UNSUPPORTED_MEDIA_TYPE')
        t.is(refused.headers.has('accept-patch'), method === 'PATCH')
      }
      const zipped = await writer.request(method, at, body, { 'content-encoding': 'gzip' })
      t.is(zipped.status, 415)
      const large = await writer.request(method, at, JSON.stringify({ a: 'x'.repeat(1024 * 1024) }))
      t.deepEqual([method, large.status, large.body?.error.code], [method, 413, 'PAYLOAD_TOO_LARGE'])
      const full = JSON.stringify(body) + ' '.repeat(1024 * 1024 - Buffer.byteLength(JSON.stringify(body)))
      const fitting = await writer.request(method, at, full, {
        'content-type': 'application/hal+json; charset=UTF-8',
      })
      t.true([201, 204, 404].includes(fitting.status), fitting.text)
    }
  })

  test.serial(`${path}: only lists have query parameters, with every method`, async (t) => {
    const { path: address } = await fixtures().create(resource)
    const { status, body } = await service().reader.get(`${address}?page=1&x=2`)
    t.deepEqual([status, body.error.code], [400, 'INVALID_QUERY_PARAMETER'])
    t.deepEqual(
      body.error.details.map(({ field }: { field: string }) => field),
      ['page', 'x'],
    )
    for (const [method, at, sent] of await writes(resource)) {
      const refused = await service().writer.request(method, `${at}?dry_run=true`, sent)
      t.deepEqual(
        [method, refused.status, refused.body?.error.code],
        [method, 400, 'INVALID_QUERY_PARAMETER'],
      )
      t.like(refused.body.error.details[0], { field: 'dry_run', code: 'UNKNOWN_PARAMETER' })
    }
    t.is((await service().reader.get(address)).status, 200, 'nothing was deleted')
  })
}
