import type { IncomingMessage, ServerResponse } from 'node:http'
import test from 'ava'
import type { Context } from 'koa'
import { createTurns } from '../../src/http/admission.ts'

/** Requests of callers with a known token, in the order in which they start. */
async function serve() {
  const turns = createTurns()
  const started: string[] = []
  const listener = turns.wrap((request) => started.push(request.url as string))
  for (const caller of ['a', 'b']) {
    const ctx = { get: () => caller, state: { caller: { identity: caller } } } as unknown as Context
    await turns.remember(ctx, async () => {})
  }
  const send = (authorization: string, url: string) =>
    listener({ url, headers: { authorization } } as IncomingMessage, {} as ServerResponse)
  return { started, send }
}

const turnOfEventLoop = () => new Promise((resolve) => setImmediate(resolve))

test('beside the flood of one caller, the request of another starts in the same turn of the event loop', async (t) => {
  const { started, send } = await serve()
  for (let number = 0; number < 64; number++) send('a', `a ${number}`)
  send('b', 'b')
  t.deepEqual(started, ['a 0', 'a 1', 'b'])
  for (let turn = 0; turn < 64 / 2; turn++) await turnOfEventLoop()
  t.is(started.length, 65)
  t.deepEqual(
    started.filter((url) => url !== 'b'),
    Array.from({ length: 64 }, (_, number) => `a ${number}`),
  )
})

test('requests with forged tokens are those of one caller, however many tokens they have', async (t) => {
  const { started, send } = await serve()
  for (let number = 0; number < 64; number++) send(`forged ${number}`, `${number}`)
  send('b', 'b')
  t.deepEqual(started, ['0', '1', 'b'])
})

test('a caller that is alone does not wait', async (t) => {
  const { started, send } = await serve()
  for (let number = 0; number < 1_100; number++) {
    send('a', `${number}`)
    if (started.length <= number) await turnOfEventLoop()
  }
  const before = started.length
  for (let number = 0; number < 64; number++) send('a', 'alone')
  t.is(started.length, before + 64)
})

test('a thousand requests of a caller wait, and those beyond start at once, in front of the limits', async (t) => {
  const { started, send } = await serve()
  for (let number = 0; number < 1_002; number++) {
    if (number === 500) send('b', 'b')
    send('a', `${number}`)
  }
  t.deepEqual(started, ['0', '1', 'b'])
  send('a', 'beyond')
  t.deepEqual(started, ['0', '1', 'b', 'beyond'])
})
