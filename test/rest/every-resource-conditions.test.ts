import test from 'ava'
import { Fixtures, resourcePath } from '../helpers/domain/fixtures.ts'
import { representatives } from '../helpers/domain/representatives.ts'
import { shareServiceOfSuite } from '../helpers/service/service.ts'

// One request after the other: side by side they would only wait for the same database.
const service = shareServiceOfSuite(test)
const fixtures = () => new Fixtures(service().writer)

/** A date of HTTP so many seconds later. */
function httpDate(date: string, seconds: number): string {
  return new Date(Date.parse(date) + seconds * 1000).toUTCString()
}

/** The same moment in the two obsolete forms (RFC 9110 §5.6.7). */
function obsoleteDates(date: string): string[] {
  const [weekday = '', day, month, year = '', time] = date.split(' ')
  const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
  const whole = weekdays.find((name) => weekday.startsWith(name.slice(0, 3)))
  return [
    `${whole}, ${day}-${month}-${year.slice(2)} ${time} GMT`,
    `${weekday.slice(0, 3)} ${month} ${day?.replace(/^0/, ' ')} ${time} ${year}`,
  ]
}

const BAD_DATES = [
  '',
  'yesterday',
  '2001-01-01',
  '0',
  'Sun, 06 Nov 1994 08:49:37 CET',
  'Thu, 31 Feb 1994 08:49:37 GMT',
  'Sun, 06 Nov 1994 25:49:37 GMT',
]

for (const resource of representatives) {
  const { path } = resource
  const { listed, replaceable } = resource

  test.serial(`${path}: a reader who has the current state is answered 304, without a body`, async (t) => {
    const { reader } = service()
    const { path: address, answer } = await fixtures().create(resource)
    const tag = answer.headers.get('etag') as string
    for (const value of [tag, `W/${tag}`, '*', `"other:1", ${tag}`, `"other:1",W/${tag} , "x"`]) {
      for (const method of ['GET', 'HEAD']) {
        const { status, text, headers } = await reader.request(method, address, undefined, {
          'If-None-Match': value,
        })
        t.deepEqual([method, value, status, text], [method, value, 304, ''])
        t.is(headers.get('etag'), tag)
        t.is(headers.get('last-modified'), answer.headers.get('last-modified'))
        t.regex(headers.get('vary') as string, /\bAccept\b/)
      }
    }
    for (const value of ['"other:1"', tag.replace(/\d+"$/, '2"'), tag.slice(1, -1), '']) {
      t.is((await reader.get(address, { 'If-None-Match': value })).status, 200, value)
    }
  })

  test.serial(
    `${path}: without an entity tag, If-Modified-Since is answered 304 while it is unchanged`,
    async (t) => {
      const { reader } = service()
      const { path: address, answer } = await fixtures().create(resource)
      const shown = answer.headers.get('last-modified') as string
      for (const method of ['GET', 'HEAD']) {
        for (const date of [shown, httpDate(shown, 60), obsoleteDates(shown)[0], obsoleteDates(shown)[1]]) {
          const { status, text, headers } = await reader.request(method, address, undefined, {
            'If-Modified-Since': date as string,
          })
          t.deepEqual([method, date, status, text], [method, date, 304, ''])
          t.deepEqual(
            [headers.get('etag'), headers.get('last-modified')],
            [answer.headers.get('etag'), shown],
          )
        }
      }
      for (const date of [httpDate(shown, -1), ...BAD_DATES]) {
        t.is((await reader.get(address, { 'If-Modified-Since': date })).status, 200, date)
      }
      const other = { 'If-None-Match': '"other:1"', 'If-Modified-Since': shown }
      t.is((await reader.get(address, other)).status, 200, 'the entity tag decides')
    },
  )

  test.serial(`${path}: without If-Match, If-Unmodified-Since protects a later change`, async (t) => {
    const { writer, reader } = service()
    const { path: address, answer } = await fixtures().create(resource)
    const shown = answer.headers.get('last-modified') as string
    const tag = answer.headers.get('etag') as string
    const body = replaceable ? await fixtures().body(resource) : undefined
    const methods = [...(replaceable ? ['PUT', 'PATCH'] : []), 'DELETE']
    const send = (method: string, headers: Record<string, string>) =>
      writer.request(method, address, method === 'DELETE' ? undefined : body, headers)
    for (const method of methods) {
      for (const date of [httpDate(shown, -1), obsoleteDates(httpDate(shown, -1))[0] as string]) {
        const refused = await send(method, { 'If-Unmodified-Since': date })
        t.deepEqual(
          [method, refused.status, refused.body?.error.code],
          [method, 409, 'CONCURRENT_MODIFICATION'],
        )
        t.is(refused.headers.get('etag'), tag)
      }
    }
    t.is((await reader.get(address)).headers.get('etag'), tag)
    for (const method of methods) {
      const { path: at, answer: made } = await fixtures().create(resource)
      const date = made.headers.get('last-modified') as string
      const sent = method === 'DELETE' ? undefined : await fixtures().body(resource)
      const { status, text } = await writer.request(method, at, sent, { 'If-Unmodified-Since': date })
      t.deepEqual([method, status], [method, 204], text)
    }
    for (const method of methods.filter((name) => name !== 'DELETE')) {
      for (const date of BAD_DATES) {
        t.is((await send(method, { 'If-Unmodified-Since': date })).status, 204, `${method} ${date}`)
      }
    }
    const now = (await reader.get(address)).headers.get('etag') as string
    const both = { 'If-Match': now, 'If-Unmodified-Since': httpDate(shown, -60) }
    t.is((await send('DELETE', both)).status, 204, 'the entity tag decides')
  })

  test.serial(`${path}: DELETE with If-Match deletes only that state`, async (t) => {
    const { writer, reader } = service()
    const { path: address, answer } = await fixtures().create(resource)
    const tag = answer.headers.get('etag') as string
    // The tag of another resource, whose identifier is as long.
    const other = tag.replace(/^"./, '"~')
    for (const stale of ['"other:1"', other, `W/${tag}`, tag.replace(/\d+"$/, '7"'), '""', 'x']) {
      const refused = await writer.delete(address, { 'If-Match': stale })
      t.deepEqual([refused.status, refused.body.error.code], [409, 'CONCURRENT_MODIFICATION'], stale)
      t.is(refused.headers.get('etag'), tag)
    }
    t.is((await reader.get(address)).status, 200)
    t.is((await writer.delete(address, { 'If-Match': `"other:1", ${tag}` })).status, 204)
    t.is((await reader.get(address)).status, 410)
    const any = await fixtures().create(resource)
    t.is((await writer.delete(any.path, { 'If-Match': '*' })).status, 204)
  })

  if (replaceable) {
    test.serial(
      `${path}: PUT and PATCH with If-Match change only that state, and name the current one`,
      async (t) => {
        const { writer, reader } = service()
        const { path: address, answer, body } = await fixtures().create(resource)
        const first = answer.headers.get('etag') as string
        const other = await fixtures().body(resource)
        for (const method of ['PUT', 'PATCH']) {
          for (const stale of [
            `W/${first}`,
            '"x"',
            first.replace(/\d+"$/, '0"'),
            first.replace(/1"$/, '01"'),
          ]) {
            const refused = await writer.request(method, address, other, { 'If-Match': stale })
            t.deepEqual([refused.status, refused.body.error.code], [409, 'CONCURRENT_MODIFICATION'], stale)
            t.is(refused.headers.get('etag'), first)
            t.deepEqual(refused.body.error.details, [])
          }
        }
        t.is((await reader.get(address)).headers.get('etag'), first)
        const put = await writer.put(address, other, { 'If-Match': `"a:1", ${first}` })
        const second = put.headers.get('etag') as string
        t.is(put.status, 204)
        t.not(second, first)
        t.is((await writer.put(address, body, { 'If-Match': first })).status, 409)
        t.is((await writer.patch(address, {}, { 'If-Match': first })).status, 409)
        t.is((await writer.put(address, body, { 'If-Match': '*' })).status, 204)
        t.is((await writer.patch(address, other, { 'If-Match': '*' })).status, 204)
      },
    )

    test.serial(`${path}: If-None-Match: * on PUT creates, and never replaces`, async (t) => {
      const { writer, reader } = service()
      const parentId = await fixtures().parent(resource)
      const address = resourcePath(resource, parentId, 'once')
      const only = { 'If-None-Match': '*' }
      const created = await writer.put(address, await fixtures().body(resource), only)
      const id = listed ? 'once' : parentId
      t.deepEqual([created.status, created.body.id], [201, id], 'without the id in the body')
      const again = await writer.put(
        address,
        { ...(await fixtures().body(resource)), ...(listed && { id: 'once' }) },
        only,
      )
      t.deepEqual([again.status, again.body.error.code], [412, 'PRECONDITION_FAILED'])
      const { headers } = await reader.get(address)
      t.is(again.headers.get('etag'), headers.get('etag'))
    })

    test.serial(`${path}: nothing is written where If-None-Match names the current state`, async (t) => {
      const { writer, reader } = service()
      const { path: address, answer } = await fixtures().create(resource)
      const tag = answer.headers.get('etag') as string
      const methods = ['PUT', 'PATCH', 'DELETE']
      const bodies = { PUT: await fixtures().body(resource), PATCH: await fixtures().body(resource) }
      const send = (method: string, value: string) =>
        writer.request(method, address, bodies[method as 'PUT'], { 'If-None-Match': value })
      const variants = [`W/${tag}`, tag.replace(/"$/, ':gzip"'), tag.replace(/"$/, '-gzip"')]
      for (const value of ['*', tag, `"other:1", ${tag}`, ...variants]) {
        for (const method of methods) {
          const { status, body, headers } = await send(method, value)
          t.deepEqual([value, method, status, body.error.code], [value, method, 412, 'PRECONDITION_FAILED'])
          t.is(headers.get('etag'), tag)
          const operation = { method, path: address, body: bodies[method as 'PUT'] }
          const operations = [{ ...operation, headers: { 'if-none-match': value } }]
          t.is((await writer.post('/batch', { operations })).status, 412)
        }
      }
      t.is((await reader.get(address)).headers.get('etag'), tag)
      for (const method of methods) {
        t.is((await send(method, `"other:1", ${tag.replace(/\d+"$/, '9"')}, x`)).status, 204, method)
      }
      t.is((await send('DELETE', '*')).status, 204, 'the resource is gone')
      t.is((await send('PATCH', '*')).status, 404)
    })

    test.serial(`${path}: a tag that a proxy has marked as compressed stands for its version`, async (t) => {
      const { writer, reader } = service()
      const { path: address, answer } = await fixtures().create(resource)
      const marked = (answer.headers.get('etag') as string).replace(/"$/, '-gzip"')
      t.is((await reader.get(address, { 'If-None-Match': marked })).status, 304)
      t.is((await writer.patch(address, {}, { 'If-Match': marked })).status, 204)
      t.is((await writer.put(address, await fixtures().body(resource), { 'If-Match': marked })).status, 204)
      t.is((await writer.delete(address, { 'If-Match': marked })).status, 409)
    })

    test.serial(`${path}: If-Match on a missing resource is 404, and creates nothing`, async (t) => {
      const { writer, reader } = service()
      const parentId = await fixtures().parent(resource)
      const address = resourcePath(resource, parentId, 'never-matched')
      const body = { ...(await fixtures().body(resource)), ...(listed && { id: 'never-matched' }) }
      for (const value of ['*', '"never-matched:1"']) {
        for (const method of ['PUT', 'PATCH']) {
          const sent = method === 'PUT' ? body : {}
          const { status, body: answer } = await writer.request(method, address, sent, { 'If-Match': value })
          t.deepEqual([status, answer.error.code], [404, 'RESOURCE_NOT_FOUND'])
        }
      }
      t.is((await reader.get(address)).status, 404)
    })

    test.serial(
      `${path}: bad bodies come before stale states, and stale states before read-only fields`,
      async (t) => {
        const { writer } = service()
        const { path: address, body } = await fixtures().create(resource)
        const stale = { 'If-Match': '"stale:1"' }
        t.is((await writer.put(address, { ...body, unknown: 1 }, stale)).status, 400)
        t.is((await writer.patch(address, { unknown: 1 }, stale)).status, 400)
        const echo = { [resource.createdField]: '2001-01-01T00:00:00.000Z' }
        t.is((await writer.put(address, { ...body, ...echo }, stale)).status, 409)
        t.is((await writer.patch(address, echo, stale)).status, 409)
      },
    )
  }
}
