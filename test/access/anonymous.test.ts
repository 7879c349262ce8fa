import test from 'ava'
import { readSettings, SettingsError } from '../../src/service/settings/settings.ts'
import { accessToken } from '../helpers/service/access-token.ts'
import type { Answer, Client, RequestHeaders } from '../helpers/service/client.ts'
import { readEvents } from '../helpers/service/read-events.ts'
import { shareTestService, startTestService } from '../helpers/service/service.ts'
import { subscribe } from '../helpers/service/subscribe.ts'

const SECRET = 'only the tests know this secret of theirs'
const SCOPES = 'planets:read moons:read'

const service = shareTestService(test, { anonymousScopes: SCOPES })

/** The code and the challenge of a 401. */
function refusal({ status, headers, body }: Answer) {
  const code = body?.error?.code ?? body?.errors?.[0].extensions.code
  return [status, code, headers.get('www-authenticate'), headers.get('cache-control')]
}

const CHALLENGED = [401, 'AUTHENTICATION_REQUIRED', 'Bearer', 'no-store']

test('without a token, what the scopes cover is read as with a token of these scopes', async (t) => {
  const { anonymous, writer, withScope } = service()
  await writer.put('/planets/open', { id: 'open', name: 'Open' })
  await writer.put('/planets/open/moons/luna', { id: 'luna', name: 'Luna' })
  const reader = withScope(SCOPES)
  for (const [path, headers] of [
    [''],
    ['/planets/open'],
    ['/planets/open?embed=moons'],
    ['/planets/open', { accept: 'application/prs.hal-forms+json' }],
    ['/planets?filter=name:Open'],
    ['/planets?filter=name:Open', { accept: 'text/csv' }],
    ['/planets/open/moons'],
    ['/planets/open/versions'],
    ['/planets/unknown'],
    ['/nowhere'],
  ] as const) {
    const [free, bound] = [await anonymous.get(path, headers), await reader.get(path, headers)]
    t.deepEqual([free.status, free.text], [bound.status, bound.text], path)
    t.is((await anonymous.head(path, headers)).status, bound.status, path)
  }
  const options = await anonymous.options('/planets/open')
  t.deepEqual([options.status, options.headers.get('allow')], [204, 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'])
})

test('without a token, what the scopes do not cover is 401 with the challenge', async (t) => {
  const { anonymous, withScope } = service()
  const requests: ((client: Client) => Promise<Answer>)[] = [
    (client) => client.get('/species'),
    (client) => client.get('/species/unknown'),
    (client) => client.get('/planets/open?embed=species'),
    (client) => client.get('/changes?collection=species'),
    (client) => client.get('/species/unknown/versions'),
    (client) => client.post('/planets', { name: 'Unwritten' }),
    (client) => client.put('/planets/open', { name: 'Unwritten' }),
    (client) => client.patch('/planets/open', { name: 'Unwritten' }),
    (client) => client.delete('/planets/open'),
    (client) => client.post('/batch', { operations: [{ method: 'DELETE', path: '/planets/open' }] }),
  ]
  const reader = withScope(SCOPES)
  for (const request of requests) {
    t.deepEqual(refusal(await request(anonymous)), CHALLENGED, String(request))
    t.is((await request(reader)).status, 403, String(request))
  }
  const { body } = await anonymous.get('/species')
  const message = 'Send an access token with the scope species:read: Authorization: Bearer <token>'
  t.is(body.error.message, message)
})

test('in GraphQL, a field that the scopes do not cover is AUTHENTICATION_REQUIRED beside the data of others', async (t) => {
  const { anonymous, writer, reader } = service()
  await writer.put('/planets/seen', { id: 'seen', name: 'Seen' })
  const { status, data, errors } = await anonymous.graphql(
    '{ planet(id: "seen") { name } speciesPage { totalCount } }',
  )
  t.deepEqual([status, data], [200, { planet: { name: 'Seen' }, speciesPage: null }])
  t.deepEqual(
    errors?.map(({ path, extensions: { code } }) => [path, code]),
    [[['speciesPage'], 'AUTHENTICATION_REQUIRED']],
  )
  const mutation = 'mutation { deletePlanet(id: "seen") { outcome } }'
  const [refused] = (await anonymous.graphql(mutation)).errors ?? []
  t.is(refused?.extensions.code, 'AUTHENTICATION_REQUIRED')
  t.is((await reader.graphql(mutation)).errors?.[0].extensions.code, 'ACCESS_DENIED')
  t.is((await reader.get('/planets/seen')).status, 200)
})

test('the feed, its events and subscriptions have the changes of the collections that the scopes cover', async (t) => {
  // Of its own, since other tests make changes, too.
  const { anonymous, writer, origin, base } = await startTestService(t, { anonymousScopes: SCOPES })
  const { headers, body } = await anonymous.get('/changes?since=now')
  t.is(headers.get('cache-control'), 'no-store')
  const { href } = body._links.next
  const subscribed = await subscribe(origin, undefined, 'subscription { changes { collection id } }')
  const denied = await subscribe(origin, undefined, 'subscription { speciesChanged { id } }')
  await writer.put('/spacecraft/hidden', { id: 'hidden', name: 'Hidden', kind: 'lander' })
  await writer.put('/planets/told', { id: 'told', name: 'Told' })
  const page = await anonymous.get(href)
  const told = page.body._embedded.changes.filter(({ id }: { id: string }) => ['hidden', 'told'].includes(id))
  t.deepEqual(told.length, 1)
  const since = new URL(href).searchParams.get('since')
  const { events } = await readEvents(`${base}/changes?since=${since}&collection=planets`, 1, {})
  t.is(events[0]?.data.collection, 'planets')
  t.is((await subscribed.until(1))[0].data.changes.collection, 'planets')
  t.is((await denied.until(1))[0].errors[0].extensions.code, 'AUTHENTICATION_REQUIRED')
  subscribed.leave()
})

test('only the absence of the header Authorization is anonymous', async (t) => {
  const { anonymous } = service()
  t.is((await anonymous.get('/planets')).status, 200)
  const expired = `Bearer ${accessToken({ secret: SECRET, scope: '*:read', seconds: -60 })}`
  for (const authorization of ['', 'Bearer', 'Bearer x.y.z', 'Basic YWRhOmx1', 'anonymous', expired]) {
    const answer = await anonymous.get('/planets', { authorization })
    t.is(answer.status, 401, authorization)
    t.regex(answer.headers.get('www-authenticate') ?? '', /^Bearer/, authorization)
    t.is((await anonymous.graphql('{ __typename }', {}, { authorization })).status, 401, authorization)
  }
})

test.serial('shared caches may keep what is read without a token, and must revalidate it', async (t) => {
  const { anonymous, reader, writer, origin, base } = service()
  await writer.put('/planets/cached', { id: 'cached', name: 'Cached' })
  for (const [path, headers] of [
    ['/planets/cached'],
    ['/planets'],
    ['/planets?embed=moons'],
    ['/planets', { accept: 'text/csv' }],
    ['/planets', { accept: 'application/prs.hal-forms+json' }],
  ] as const) {
    const free = await anonymous.get(path, headers)
    const tag = free.headers.get('etag') ?? ''
    const known = await anonymous.get(path, { ...headers, 'if-none-match': tag })
    t.is(known.status, 304, path)
    for (const { headers: sent } of [free, known, await anonymous.head(path, headers)]) {
      t.is(sent.get('cache-control'), 'public, no-cache', path)
      t.regex(sent.get('vary') ?? '', /\bAuthorization\b/, path)
    }
    const bound = await reader.get(path, headers)
    t.is(bound.headers.get('cache-control'), 'private, no-cache, must-revalidate', path)
    t.regex(bound.headers.get('vary') ?? '', /\bAuthorization\b/, path)
  }
  for (const url of [`${base}/species`, `${base}/nowhere`, `${base}/changes`, `${base}/planets/none`]) {
    t.is((await anonymous.get(url)).headers.get('cache-control'), 'no-store', url)
  }
  const query = `${origin}/graphql?query={__typename}`
  const result = await anonymous.get(query, { 'apollo-require-preflight': 'yes' })
  t.deepEqual([result.status, result.headers.get('cache-control')], [200, 'no-store'])
})

test('a shared cache serves changed content and keeps no answer to a token', async (t) => {
  const { anonymous, reader, writer, base } = service()
  await writer.put('/planets/shared', { id: 'shared', name: 'First' })
  const stored = new Map<string, Answer>()
  let validated = 0
  /** A cache by RFC 9111: §3 what it stores, §4.1 Vary, §4.3 validation. */
  const throughCache = async (client: Client, headers: RequestHeaders = {}) => {
    const key = JSON.stringify([client.authorization ?? null, headers])
    const known = stored.get(key)
    const tag = known?.headers.get('etag')
    const answer = await client.get(`${base}/planets/shared`, {
      ...headers,
      ...(tag && { 'if-none-match': tag }),
    })
    if (answer.status === 304) validated += 1
    else if (/\bpublic\b/.test(answer.headers.get('cache-control') ?? '')) stored.set(key, answer)
    return (answer.status === 304 ? known : answer)?.body.name
  }
  t.is(await throughCache(anonymous), 'First')
  t.is(await throughCache(reader), 'First')
  t.is(await throughCache(anonymous), 'First')
  await writer.patch('/planets/shared', { name: 'Second' })
  t.is(await throughCache(anonymous), 'Second')
  t.is(await throughCache(reader), 'Second')
  t.deepEqual([validated, stored.size], [1, 1])
})

test('requests without a token are one caller, and a token with the subject anonymous is another', async (t) => {
  const { anonymous, withSubject } = await startTestService(t, { anonymousScopes: SCOPES, rateLimit: 3 })
  const named = withSubject('anonymous')
  const statuses = async (client: Client) => {
    const answers = [1, 2, 3, 4].map(() => client.get('/planets'))
    return (await Promise.all(answers)).map(({ status }) => status).sort()
  }
  t.deepEqual(await statuses(anonymous), [200, 200, 200, 429])
  t.deepEqual(await statuses(named), [200, 200, 200, 429])
})

test('a refused write without a token leaves its idempotency key to others, and its author is not anonymous', async (t) => {
  const { anonymous, withSubject, reader } = service()
  const headers = { 'idempotency-key': 'shared-by-all' }
  t.is((await anonymous.post('/planets', { name: 'Claimed' }, headers)).status, 401)
  const created = await withSubject('anonymous').post('/planets', { name: 'Kept' }, headers)
  t.is(created.status, 201)
  t.is((await anonymous.post('/planets', { name: 'Kept' }, headers)).status, 401)
  const { body } = await reader.get(`/planets/${created.body.id}/versions`)
  t.regex(body._embedded.versions[0].by, /^sha256 subject /)
})

test('without the setting, each request needs a token, and nothing depends on the header', async (t) => {
  const { anonymous, reader, writer } = await startTestService(t)
  await writer.put('/planets/closed', { id: 'closed', name: 'Closed' })
  t.deepEqual(refusal(await anonymous.get('/planets')), CHALLENGED)
  t.deepEqual(refusal(await anonymous.get('/nowhere')), CHALLENGED)
  const { headers } = await reader.get('/planets/closed')
  t.notRegex(headers.get('vary') ?? '', /Authorization/)
  t.is(headers.get('cache-control'), 'private, no-cache, must-revalidate')
})

test('the OpenAPI document says that the token is optional', async (t) => {
  const { anonymous } = service()
  t.deepEqual((await anonymous.get('/openapi.json')).body.security, [{ bearer: [] }, {}])
})

test('scopes that write, or are none, stop the start', (t) => {
  const problems = (scopes: string) => {
    const error = t.throws(() => readSettings({ ANONYMOUS_SCOPES: scopes }), { instanceOf: SettingsError })
    return error?.problems.join()
  }
  for (const scopes of ['*:write', '*:read planets:write', 'planets', '*:read,planets:read', ':read']) {
    t.regex(problems(scopes) ?? '', /^ANONYMOUS_SCOPES: must be scopes as in species:read/, scopes)
  }
  t.is(readSettings({ ANONYMOUS_SCOPES: '*:read planets:medical' }).anonymousScopes, '*:read planets:medical')
})
