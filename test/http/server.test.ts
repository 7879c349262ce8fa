import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { createHttpServer, type ServerLimits } from '../../src/http/server.ts'
import { listenWith } from '../helpers/process/listen-with.ts'
import { openConnection, readToEnd } from '../helpers/process/raw-connection.ts'

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const POST = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n'

/** More than the buffers of a connection hold. */
const ANSWER_BYTES = 50_000_000

/** A server of the test's own; resolves to its address. */
async function serve(t: ExecutionContext, handler: RequestListener, limits: Partial<ServerLimits> = {}) {
  const settings = { maximumConnections: 100, keepAliveSeconds: 60, ...limits }
  const { server } = createHttpServer(handler, settings, { isStopping: false })
  return listenWith(t, server)
}

/** Answers once the client has closed its side. */
const answerLate: RequestListener = async (request, response) => {
  request.resume()
  if (!request.socket.readableEnded) await once(request.socket, 'end')
  response.end('the answer')
}

for (const [what, bytes] of [
  ['a request', GET],
  ['a request with a body', `${POST}hello`],
  ['two requests', `${GET}${GET}`],
] as const) {
  test(`a client that closes its side after ${what} is answered, and the connection ends`, async (t) => {
    const socket = await openConnection(await serve(t, answerLate))
    socket.end(bytes)
    const answer = await readToEnd(socket)
    t.is(answer.match(/HTTP\/1\.1 200 OK/g)?.length, bytes === GET + GET ? 2 : 1, answer)
    t.true(answer.endsWith('the answer'))
  })
}

for (const [what, bytes, status] of [
  ['within the headers', 'GET / HTTP/1.1\r\nHo', 400],
  ['within the body', `${POST}he`, 400],
  ['without a request', '', undefined],
  ['after a request that was answered', GET, 200],
] as const) {
  test(`a connection whose client closes its side ${what} ends`, async (t) => {
    const origin = await serve(t, (request, response) => {
      request.on('error', () => {}).on('end', () => response.end())
      request.resume()
    })
    const socket = await openConnection(origin)
    socket.write(bytes)
    if (status === 200) await once(socket, 'data')
    socket.end()
    const answer = await readToEnd(socket)
    if (status === 400) t.regex(answer, /^HTTP\/1\.1 400 [\s\S]*"code":"MALFORMED_REQUEST"/)
    else t.is(answer, '')
  })
}

test('the connection of a client that does not read its response is closed, half-closed or not', async (t) => {
  let isClosed = false
  const handler: RequestListener = (request, response) => {
    request.socket.once('close', () => {
      isClosed = true
    })
    response.end(Buffer.alloc(ANSWER_BYTES))
  }
  const origin = await serve(t, handler, { responseMilliseconds: 200 })
  for (const isHalfClosed of [false, true]) {
    const socket = await openConnection(origin)
    socket.pause().write(GET)
    if (isHalfClosed) socket.end()
    for (let wait = 0; !isClosed && wait < 500; wait++) await delay(10)
    t.true(isClosed)
    t.true((await readToEnd(socket)).length < ANSWER_BYTES)
    isClosed = false
  }
})

test('the connection of a client that reads its response in time stays open', async (t) => {
  const origin = await serve(t, (_, response) => void response.end('a'.repeat(100_000)), {
    responseMilliseconds: 50,
  })
  const socket = await openConnection(origin)
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.write(GET)
  while (!Buffer.concat(chunks).toString().endsWith('a'.repeat(100_000))) await delay(10)
  await delay(100)
  socket.write(GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
  await once(socket, 'close')
  t.is(Buffer.concat(chunks).toString().split('HTTP/1.1 200').length, 3)
})

test('CONNECT is refused in the error envelope, and the connection ends', async (t) => {
  let isCalled = false
  const origin = await serve(t, () => {
    isCalled = true
  })
  const socket = await openConnection(origin)
  socket.write('CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\nand more')
  const answer = await readToEnd(socket)
  t.regex(answer, /^HTTP\/1\.1 405 /)
  t.regex(answer, /\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n/)
  t.regex(answer, /\r\nConnection: close\r\n/)
  t.is(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))).error.code, 'METHOD_NOT_ALLOWED')
  t.false(isCalled)
})

test('a client that resets the connection after CONNECT causes no fault', async (t) => {
  const origin = await serve(t, (_, response) => void response.end('still there'))
  for (let count = 0; count < 20; count++) {
    const socket = await openConnection(origin)
    socket.on('error', () => {})
    socket.write('CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n')
    if (count % 2) await once(socket, 'data')
    socket.resetAndDestroy()
  }
  t.is(await (await fetch(origin)).text(), 'still there')
})

for (const protocol of ['websocket', 'h2c']) {
  test(`the upgrade of a request to ${protocol} is ignored`, async (t) => {
    const origin = await serve(t, async (request, response) => {
      response.end(`${request.method} ${Buffer.concat(await request.toArray())}`)
    })
    for (const [head, answer] of [
      [GET, 'GET '],
      [POST, 'POST hello'],
    ] as const) {
      const socket = await openConnection(origin)
      const headers = `Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: ${protocol}\r\nHTTP2-Settings: AAMAAABk\r\n\r\n`
      socket.write(head.replace(/\r\n$/, headers) + (head === POST ? 'hello' : ''))
      const received = await readToEnd(socket)
      t.regex(received, /^HTTP\/1\.1 200 OK/)
      t.true(received.endsWith(answer), received)
    }
  })
}
