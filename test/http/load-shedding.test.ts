import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import type { AnsweredRequest } from '../../src/http/access-log.ts'
import { createShedding } from '../../src/http/load-shedding.ts'
import { DomainError } from '../../src/model/errors.ts'

const ROUTE = '/api/v1/species'

/** Something that is full or not, in front of an application that counts the requests it gets to see. */
async function serveOverloaded(t: ExecutionContext) {
  const state = { isFull: true, seen: 0, message: 'Too much.' }
  const reported: AnsweredRequest[] = []
  const app: RequestListener = (_, response) => {
    state.seen += 1
    response.statusCode = state.isFull ? 503 : 200
    response.end('from the application')
  }
  const overload = {
    isFull: () => state.isFull,
    refuse: () => new DomainError('SERVICE_UNAVAILABLE', state.message),
    holdResponse: () => () => {},
    startBody: async () => () => {},
  }
  const templateOf = (path: string) => (path === ROUTE ? ROUTE : undefined)
  const server = createServer(
    createShedding(overload).wrap(app, {}, templateOf, (request) => reported.push(request)),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const ask = async (path = ROUTE, init: RequestInit = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  return { state, reported, ask }
}

test('a refused request does not reach the application, and each refusal has its own length', async (t) => {
  const { state, reported, ask } = await serveOverloaded(t)
  const messages = ['Too much.', 'Too much, and a longer message. '.repeat(9), 'Less.']
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
  for (const [index, method] of methods.entries()) {
    state.message = messages[index % messages.length] as string
    const { status, headers, text } = await ask(`${ROUTE}?page=2`, { method })
    t.is(status, 503)
    t.is(headers.get('retry-after'), '1')
    t.is(headers.get('content-length'), String(Buffer.byteLength(text)))
    t.is(JSON.parse(text).error.message, state.message)
  }
  t.is(state.seen, 0)
  t.deepEqual(
    reported.map(({ status, route, method }) => [status, route, method]),
    methods.map((method) => [503, ROUTE, method]),
  )
})

test('requests that need their own headers, and all requests within the capacity, reach the application', async (t) => {
  const { state, ask } = await serveOverloaded(t)
  await ask('/health/live')
  await ask(ROUTE, { method: 'OPTIONS' })
  await ask(ROUTE, { headers: { 'X-Request-Id': 'brought-along' } })
  t.is(state.seen, 3)
  state.isFull = false
  t.is((await ask()).status, 200)
  t.is(state.seen, 4)
})
