import test from 'ava'
import { group, text, timestamp } from '../../src/domain/definition.ts'
import { defineResource } from '../../src/model/definition/define-resource.ts'
import type { Resource } from '../../src/model/definition/resource.ts'
import { timestampKind } from '../../src/model/kinds/timestamp.ts'
import { createHal } from '../../src/rest/hal.ts'
import { Urls } from '../../src/rest/urls.ts'
import { type Body, collectionPath, Fixtures, valueIn, withValue } from '../helpers/domain/fixtures.ts'
import { representatives } from '../helpers/domain/representatives.ts'
import { fc } from '../helpers/process/run.ts'
import type { Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

// One request after the other: side by side they would only wait for the same database.
const service = shareTestService(test)

const fixtures = () => new Fixtures(service().writer)

const TYPE = 'application/prs.hal-forms+json'

const FORMS = { accept: TYPE }

/** What a client sends that only knows the template: a member for each value, at the path that is its name. */
function bodyOf({ properties }: Json, valueFor: (property: Json) => Json): Body {
  return (properties as Json[]).reduce<Body>((body, property) => {
    const value = valueFor(property)
    const path = (property.name as string).split('.')
    return value === undefined ? body : withValue(body, { path } as never, value)
  }, {})
}

function send({ method, target, contentType }: Json, body?: Body, headers = {}) {
  const type = contentType && { 'content-type': contentType }
  return service().writer.request(method, target, body, { ...type, ...headers })
}

function withValues(resource: Resource, body: Body) {
  return ({ name }: Json) => {
    const leaf = resource.leaves.find((one) => one.name === name)
    return leaf && valueIn(body, leaf)
  }
}

for (const resource of representatives) {
  const { path, listed, replaceable } = resource

  if (listed) {
    test.serial(`${path}: the template of the list creates a resource with every field`, async (t) => {
      const { writer } = service()
      const parentId = await fixtures().parent(resource)
      const list = await writer.get(collectionPath(resource, parentId), FORMS)
      t.is(list.headers.get('content-type'), TYPE)
      t.deepEqual(Object.keys(list.body._templates), ['default'])
      const template = list.body._templates.default
      t.deepEqual(
        template.properties.map(({ name }: Json) => name),
        resource.writable.map(({ name }) => name),
      )
      const body = await fixtures().body(resource)
      const created = await send(template, bodyOf(template, withValues(resource, body)), FORMS)
      t.is(created.status, 201)
      t.like(created.body, body)
      const refused = await send(template, {})
      t.deepEqual(
        refused.body.error?.details.map(({ field }: Json) => field) ?? [],
        template.properties.filter(({ required }: Json) => required).map(({ name }: Json) => name),
      )
    })
  }

  test.serial(
    `${path}: the templates of an item are what it can be asked to do, with its values`,
    async (t) => {
      const { writer } = service()
      const { path: address, body: sent } = await fixtures().create(resource)
      const { body, headers } = await writer.get(address, FORMS)
      const { default: replace, patch, delete: remove } = body._templates
      const { headers: options } = await writer.options(address)
      const own = [replace, patch, remove].filter(Boolean)
      const changing = (options.get('allow') as string).split(', ').filter((name) => /^(P|D)/.test(name))
      t.deepEqual(
        own.map(({ method }) => method),
        changing,
      )
      for (const { target } of own) t.is(target, body._links.self.href)
      if (replaceable) {
        const replaced = await send(
          replace,
          bodyOf(replace, ({ value }) => value),
        )
        t.deepEqual([replaced.status, replaced.headers.get('etag')], [204, plain(headers.get('etag'))])
        const patched = await send(
          patch,
          bodyOf(patch, ({ value }) => value),
        )
        t.deepEqual([patched.status, patched.headers.get('etag')], [204, plain(headers.get('etag'))])
        t.like(
          bodyOf(patch, ({ value }) => value),
          sent,
        )
        const readOnly = replace.properties.filter((property: Json) => property.readOnly)
        for (const { name } of readOnly) {
          const changed = await send(
            replace,
            bodyOf(replace, (one) => (one.name === name ? 'other' : one.value)),
          )
          t.deepEqual([name, changed.body.error?.details[0].code], [name, 'READ_ONLY_FIELD'])
        }
      }
      t.is((await send(remove, undefined, { 'if-match': headers.get('etag') as string })).status, 204)
      t.is((await writer.get(address)).status, 410)
    },
  )

  test.serial(`${path}: the properties of a template are what the service requires`, async (t) => {
    const { writer, reader } = service()
    const { path: address, collection, body } = await fixtures().create(resource)
    const { _templates: templates } = (await writer.get(listed ? collection : address, FORMS)).body
    const template = templates.default
    const check = async (name: string, value: Json, code: string) => {
      const known = withValues(resource, body)
      const { body: answer } = await send(
        template,
        bodyOf(template, (one) => (one.name === name ? value : known(one))),
      )
      const found = answer?.error?.details.find((one: Json) => one.field === name)
      t.is(found?.code, code, `${name}: ${JSON.stringify(value)?.slice(0, 40)}`)
    }
    const writable = template.properties.filter(({ readOnly }: Json) => !readOnly)
    for (const { name, min, max, maxLength, regex, options, type, format } of writable) {
      if (min !== undefined) await check(name, min - 1, 'OUT_OF_RANGE')
      if (max !== undefined) await check(name, max + 1, 'OUT_OF_RANGE')
      if (maxLength !== undefined) await check(name, 'x'.repeat(maxLength + 1), 'TOO_LONG')
      if (type === 'text' && regex && !format) await check(name, ' ', 'REQUIRED_FIELD')
      if (format === 'date-time') await check(name, 'tomorrow', 'INVALID_FORMAT')
      if (options?.inline && typeof options.inline[0] === 'string')
        await check(name, 'other', 'INVALID_VALUE')
      if (options?.link) {
        const { body: choices } = await reader.get(options.link.href, { accept: options.link.type })
        const [items] = Object.values(choices._embedded) as [Json[]]
        t.is(typeof items[0][options.valueField], 'string')
        t.is(typeof items[0][options.promptField], 'string')
      }
    }
  })

  test.serial(`${path}: a document has only templates that the scopes permit`, async (t) => {
    const { reader, withScope } = service()
    const { path: address, collection } = await fixtures().create(resource)
    for (const at of listed ? [address, collection] : [address]) {
      const read = await reader.get(at, FORMS)
      t.deepEqual([read.headers.get('content-type'), read.body._templates], [TYPE, undefined])
      t.regex(read.headers.get('vary') as string, /\bAccept, (?:Prefer, )?Authorization$/)
      const other = await withScope(`${path}:read ${path}:write`).get(at, FORMS)
      t.deepEqual(
        Object.keys(other.body._templates),
        at === address ? [...(replaceable ? ['default', 'patch'] : []), 'delete'] : ['default'],
      )
    }
  })

  test.serial(
    `${path}: with templates it has an entity tag of its own, good for the same writes`,
    async (t) => {
      const { writer, reader } = service()
      const { path: address } = await fixtures().create(resource)
      const [json, forms] = [await writer.get(address), await writer.get(address, FORMS)]
      const [tag, formsTag] = [json.headers.get('etag') as string, forms.headers.get('etag') as string]
      t.not(tag, formsTag)
      t.is(plain(formsTag), tag)
      const { _templates, ...rest } = forms.body
      t.deepEqual(rest, json.body)
      const status = async (client: typeof writer, accept: string, known: string) =>
        (await client.get(address, { accept, 'if-none-match': known })).status
      t.is(await status(writer, TYPE, formsTag), 304)
      t.is(await status(writer, TYPE, tag), 200)
      t.is(await status(writer, 'application/json', formsTag), 200)
      t.is(await status(reader, TYPE, formsTag), 200)
      t.is((await writer.delete(address, { 'if-match': formsTag.replace(/:\d+/, ':999') })).status, 409)
      t.is((await writer.delete(address, { 'if-match': formsTag })).status, 204)
    },
  )
}

/** The entity tag of the version, without templates. */
function plain(tag: string | null): string | null {
  return tag?.replace(/^("[^:]+:\d+):.*"$/, '$1"') ?? null
}

test.serial('a list of what refers to a parent creates with the reference filled in', async (t) => {
  const { writer } = service()
  const { body: planet } = await writer.post('/planets', { name: 'Referred' })
  const { body } = await writer.get(`/planets/${planet.id}/species`, FORMS)
  const template = body._templates.default
  const values = bodyOf(template, ({ name, value }) => (name === 'scientific_name' ? 'Referens' : value))
  const created = await send(template, values)
  t.is(created.body._links.planet.href, planet._links.self.href)
})

test.serial('the template of a parent sets its singleton', async (t) => {
  const { writer, withScope } = service()
  const { body: planet } = await writer.post('/planets', { name: 'Airless' })
  const { atmosphere } = (await writer.get(`/planets/${planet.id}`, FORMS)).body._templates
  t.is((await send(atmosphere, { breathable: true })).status, 201)
  const { body } = await withScope('planets:read atmosphere:write').get(`/planets/${planet.id}`, FORMS)
  t.deepEqual(Object.keys(body._templates), ['atmosphere'])
})

test.serial('HAL-FORMS is chosen by its weight, as other media types are', async (t) => {
  const { writer } = service()
  for (const [accept, type] of [
    [`${TYPE}, application/hal+json;q=0.9`, TYPE],
    [`${TYPE};q=0.5, application/hal+json`, 'application/hal+json'],
    [`${TYPE};q=0`, undefined],
  ] as const) {
    const { status, headers } = await writer.get('/planets', { accept })
    t.deepEqual([status, status === 200 ? headers.get('content-type') : undefined], [type ? 200 : 406, type])
  }
  t.is((await writer.get('', FORMS)).headers.get('content-type'), TYPE)
})

test.serial('the form of a new resource has the initial values', async (t) => {
  const { body } = await service().writer.get('/missions', FORMS)
  const [status] = body._templates.default.properties.filter(({ name }: Json) => name === 'status')
  t.like(status, { value: 'planned', options: { inline: ['planned'], selectedValues: undefined } })
})

test.serial(
  'forms offer the statuses that the transitions allow, and the service accepts these',
  async (t) => {
    const { writer } = service()
    const offered = async (url: string, key = 'default'): Promise<string[]> => {
      const { body } = await writer.get(url, FORMS)
      return body._templates[key].properties.find(({ name }: Json) => name === 'status').options.inline
    }
    t.deepEqual(await offered('/missions'), ['planned'])
    const { body: mission } = await writer.post('/missions', { name: 'By form' })
    const own = `/missions/${mission.id}`
    const ways = [
      ['planned', 'active', 'aborted'],
      ['active', 'completed', 'aborted'],
    ]
    for (const way of ways) {
      t.deepEqual([await offered(own), await offered(own, 'patch')], [way, way])
      t.is((await writer.patch(own, { status: way[0] })).status, 204)
      t.is((await writer.patch(own, { status: way[1] })).status, 204)
    }
    t.deepEqual(await offered(own), ['completed'])
    const { status, body } = await writer.patch(own, { status: 'active' })
    t.is(status, 422)
    t.is(body.error.details[0].message, 'A completed mission cannot become active.')
  },
)

test('the text of a timestamp is that of toISOString, for every date', (t) => {
  fc.assert(
    fc.property(
      fc.date({ noInvalidDate: true }),
      (date) => timestampKind.toJson?.(date as never) === date.toISOString(),
    ),
  )
  for (const year of [-1, 0, 1, 999, 1000, 9999, 10000]) {
    const date = new Date(0)
    date.setUTCFullYear(year)
    t.is(timestampKind.toJson?.(date as never), date.toISOString())
  }
})

test('forms show the values of all fields, each time, whatever fields the representation is limited to', async (t) => {
  const { writer } = service()
  const { body: planet } = await writer.post('/planets', { name: 'Limited', host_star: 'Sol' })
  const answers = []
  for (let time = 0; time < 3; time++)
    answers.push(await writer.get(`/planets/${planet.id}?fields=name`, FORMS))
  t.is(new Set(answers.map(({ headers }) => headers.get('etag'))).size, 1)
  const { host_star, _templates }: Json = answers.map(({ body }) => body).at(-1)
  t.is(host_star, undefined)
  t.is(_templates.default.properties.find(({ name }: Json) => name === 'host_star').value, 'Sol')
})

test('a representation has the shown and set fields, in the order of the definition', (t) => {
  const resource = defineResource({
    name: 'Signal',
    kind: 'collection',
    path: 'signals',
    description: 'What an antenna has received.',
    fields: {
      tag: text('Its name.'),
      secret: text('Shown to no client.', { hidden: true }),
      origin: group('Where it came from.', { constructor: text('An odd name.'), star: text('Its star.') }),
      heard: timestamp('When it was heard.'),
    },
  })
  const hal = createHal(resource, [resource])
  const created = new Date(Date.UTC(2031, 0, 2, 3, 4, 5, 6))
  const data = { heard: null, secret: 'x', tag: '', id: 's1', created_date: created, last_updated: created }
  const written = (values: object) =>
    JSON.stringify(hal.resource({ ...data, ...values }, 'item', new Urls('')))
  const timestamps = '"created_date":"2031-01-02T03:04:05.006Z","last_updated":"2031-01-02T03:04:05.006Z"'
  const links = '"_links":{"self":{"href":"/signals/s1"}}'
  t.is(written({ origin: null }), `{"id":"s1","tag":"",${timestamps},${links}}`)
  t.is(
    written({ origin: { star: 'Sol', constructor: null }, heard: created, tag: null }),
    `{"id":"s1","origin":{"star":"Sol"},"heard":"2031-01-02T03:04:05.006Z",${timestamps},${links}}`,
  )
})
