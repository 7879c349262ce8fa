import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { DomainError } from '../../src/domain/model/errors.ts'
import type { AnsweredRequest } from '../../src/http/access-log.ts'
import { createShedding } from '../../src/http/load-shedding.ts'

const ROUTE = '/api/v1/species'

/** Something that is full or not, in front of an application that counts the requests it gets to see. */
async function serveOverloaded(t: ExecutionContext) {
  const state = { isFull: true, seen: 0 }
  const reported: AnsweredRequest[] = []
  const app: RequestListener = (_, response) => {
    state.seen += 1
    response.statusCode = state.isFull ? 503 : 200
    response.setHeader('Retry-After', '7').setHeader('X-Request-Id', `own ${state.seen}`)
    response.end('from the application')
  }
  const overload = {
    isFull: () => state.isFull,
    refuse: () => new DomainError('SERVICE_UNAVAILABLE', 'Too much.'),
    holdResponse: () => () => {},
  }
  const templateOf = (path: string) => (path === ROUTE ? ROUTE : undefined)
  const server = createServer(
    createShedding(overload).wrap(app, templateOf, (request) => reported.push(request)),
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

test('after the first refusal, a refused request does not reach the application', async (t) => {
  const { state, reported, ask } = await serveOverloaded(t)
  t.is((await ask()).text, 'from the application')
  t.is(state.seen, 1)
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    const { status, headers, text } = await ask(`${ROUTE}?page=2`, { method })
    t.is(status, 503)
    t.is(headers.get('retry-after'), '7', 'as the application has it')
    t.notRegex(headers.get('x-request-id') ?? '', /own/)
    t.is(JSON.parse(text).error.code, 'SERVICE_UNAVAILABLE')
  }
  t.is(state.seen, 1)
  t.deepEqual(
    reported.map(({ status, route, method }) => [status, route, method]),
    ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => [503, ROUTE, method]),
  )
})

test('requests that need their own headers, and all requests within the capacity, reach the application', async (t) => {
  const { state, ask } = await serveOverloaded(t)
  await ask()
  await ask('/health/live')
  await ask(ROUTE, { method: 'OPTIONS' })
  await ask(ROUTE, { headers: { 'X-Request-Id': 'brought-along' } })
  t.is(state.seen, 4)
  state.isFull = false
  t.is((await ask()).status, 200)
  t.is(state.seen, 5)
})
