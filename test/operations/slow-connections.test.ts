import { connect } from 'node:net'
import test from 'ava'
import { startTestService } from '../helpers/service/service.ts'

const SLOW = {
  headers: ['GET /api/v1/species HTTP/1.1\r\n', 'X: y\r\n'],
  body: [
    'POST /api/v1/species HTTP/1.1\r\nHost: x\r\nAuthorization: $\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n',
    ' ',
  ],
  silence: ['', ''],
} as const

test('connections that send slowly are ended with a 408, and others are served meanwhile', async (t) => {
  const { origin, writer } = await startTestService(t)
  const answers = Object.entries(SLOW).flatMap(([, [first, next]]) =>
    Array.from({ length: 20 }, () => dawdle(origin, first.replace('$', writer.authorization ?? ''), next)),
  )
  t.is((await writer.get('/species')).status, 200)
  for (const answer of await Promise.all(answers))
    t.regex(answer, /^HTTP\/1\.1 408 .*"code":"REQUEST_TIMEOUT"/s)
  t.is((await writer.get('/species')).status, 200)
})

/** Resolves to all that was answered when the connection has ended. */
function dawdle(origin: string, first: string, next: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port: Number(new URL(origin).port), host: '127.0.0.1' })
    let answer = ''
    const timer = setInterval(() => socket.write(next), 500)
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearInterval(timer)
      resolve(answer)
    })
    socket.write(first)
  })
}
