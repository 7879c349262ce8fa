import test from 'ava'
import { FEATURES } from '../../src/service/features.ts'
import { shareTestService } from '../helpers/service/service.ts'

const all = shareTestService(test, {}, { features: FEATURES })
const core = shareTestService(test, {}, { features: [], limit: () => ({}) })

const FIELDS = '{ __schema { queryType { fields { name } } subscriptionType { name } } }'

async function schemaOf(service: ReturnType<typeof all>) {
  const { __schema } = (await service.reader.graphql(FIELDS)).data
  const names = (of: readonly { name: string }[]) => of.map(({ name }) => name)
  return {
    queries: names(__schema.queryType.fields),
    hasSubscriptions: __schema.subscriptionType !== null,
  }
}

test('the features add the feed and the versions', async (t) => {
  const { queries, hasSubscriptions } = await schemaOf(all())
  t.true(['changes', 'versions'].every((name) => queries.includes(name)))
  t.true(hasSubscriptions)
  const { writer } = all()
  const { id } = (await writer.post('/planets', { name: 'X' })).body
  const linksOf = async (path: string) =>
    [...((await writer.get(path)).headers.get('link') ?? '').matchAll(/rel="(.+?)"/g)].map(([, name]) => name)
  t.deepEqual(await linksOf('/planets'), ['describedby', 'changes'])
  t.deepEqual(await linksOf(`/planets/${id}`), ['describedby', 'version-history'])
  t.is((await writer.get('/changes')).status, 200)
  t.is((await writer.get(`/planets/${id}/versions`)).status, 200)
})

test('without features there are no routes, fields, links or documents of any', async (t) => {
  const { queries, hasSubscriptions } = await schemaOf(core())
  t.false(['changes', 'versions'].some((name) => queries.includes(name)))
  t.false(hasSubscriptions)
  const { writer, anonymous } = core()
  const { id } = (await writer.post('/planets', { name: 'X' })).body
  for (const path of ['/planets', `/planets/${id}`]) {
    t.notRegex((await writer.get(path)).headers.get('link') ?? '', /rel="(?:changes|version-history)"/, path)
  }
  const absent = [writer.get('/changes'), writer.get(`/planets/${id}/versions`)]
  for (const { status, body } of await Promise.all(absent)) {
    t.is(status, 404)
    t.is(body.error.code, 'RESOURCE_NOT_FOUND')
  }
  const { paths, components } = (await anonymous.get('/openapi.json')).body
  t.false(Object.keys(paths).some((path) => /changes|versions/.test(path)))
  t.false(Object.keys(components.schemas).some((name) => /^Recorded/.test(name)))
})

test('without features, a request that accepts events gets the result of its operation', async (t) => {
  const { status, text } = await core().reader.graphql('{ collections { path } }', undefined, {
    Accept: 'text/event-stream',
  })
  t.is(status, 200)
  t.regex(text, /^event: next\ndata: \{"data"/)
})
