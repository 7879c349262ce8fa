import test from 'ava'
import { HEADERS } from '../../src/documents/openapi/responses.ts'
import type { Answer } from '../helpers/client.ts'
import { resources } from '../helpers/domain.ts'
import { Fixtures } from '../helpers/fixtures.ts'
import { shareTestService } from '../helpers/service.ts'

const service = shareTestService(test, { serverTiming: true, rateLimit: 100_000 })

/** What scripts of other origins may read without being told (Fetch standard, §2.2.2). */
const SAFE = [
  'cache-control',
  'content-language',
  'content-length',
  'content-type',
  'expires',
  'last-modified',
  'pragma',
]

/** What is for browsers, connections and CORS itself, and tells a script nothing. */
const NOT_FOR_SCRIPTS =
  /^(?:access-control-.*|connection|content-security-policy|cross-origin-.*|date|keep-alive|origin-agent-cluster|referrer-policy|strict-transport-security|transfer-encoding|x-(?:content-type-options|dns-prefetch-control|download-options|frame-options|permitted-cross-domain-policies|xss-protection))$/

test('scripts of other origins may read every header that the service sends', async (t) => {
  const { anonymous, writer, withScope } = service()
  const origin = { origin: 'https://dashboard.example' }
  const shown = { ...origin, prefer: 'graphql-operation' }
  const answers: Answer[] = [await anonymous.get('', origin), await withScope('').get('/species', origin)]
  for (const resource of resources) {
    const { path, collection, body } = await new Fixtures(writer).create(resource)
    answers.push(
      await writer.get(path, shown),
      await writer.get(collection, shown),
      await writer.options(path, origin),
      await writer.request('PROPFIND', path, undefined, origin),
      await writer.post(collection, body, origin),
      await writer.patch(path, 'x', { ...origin, 'content-type': 'text/plain' }),
      await writer.delete(path, { ...origin, 'if-match': '"stale:1"' }),
      await writer.delete(path, { ...origin, prefer: 'handling=strict' }),
      await writer.get(path, origin),
    )
  }
  const sent = new Set<string>()
  for (const { headers } of answers) {
    const exposed = (headers.get('access-control-expose-headers') ?? '').toLowerCase().split(',')
    const readable = [...SAFE, ...exposed.map((name) => name.trim())]
    for (const name of headers.keys()) {
      if (NOT_FOR_SCRIPTS.test(name)) continue
      sent.add(name)
      t.true(readable.includes(name), name)
    }
  }
  for (const name of ['allow', 'accept-patch', 'graphql-operation', 'preference-applied', 'server-timing']) {
    t.true(sent.has(name), name)
  }
  t.true(sent.has('www-authenticate'))
})

test('scripts of other origins may read every header of the OpenAPI document', async (t) => {
  const { anonymous } = service()
  const { headers } = await anonymous.get('', { origin: 'https://dashboard.example' })
  const exposed = (headers.get('access-control-expose-headers') ?? '').toLowerCase()
  for (const name of Object.keys(HEADERS)) {
    t.true([...exposed.split(','), ...SAFE].includes(name.toLowerCase()), name)
  }
})
