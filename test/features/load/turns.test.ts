import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import type { Context } from 'koa'
import { createTurns } from '../../../src/features/load/requests.ts'

/** Requests of callers with a known token, in the order in which they start. */
async function serve() {
  const turns = createTurns()
  const started: string[] = []
  for (const caller of ['a', 'b']) {
    const ctx = { get: () => caller, state: { caller: { identity: caller } } } as unknown as Context
    await turns.remember(ctx, async () => {})
  }
  const send = (authorization: string, url: string) =>
    void turns.take({ get: () => authorization } as unknown as Context, async () => void started.push(url))
  return { started, send }
}

test('beside the flood of one caller, the request of another starts in the same turn of the event loop', async (t) => {
  const { started, send } = await serve()
  for (let number = 0; number < 64; number++) send('a', `a ${number}`)
  send('b', 'b')
  t.deepEqual(started, ['a 0', 'a 1', 'b'])
  for (let turn = 0; turn < 64; turn++) await nextTurn()
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
  send('a', 'first')
  await delay(1_050)
  for (let number = 0; number < 64; number++) send('a', 'alone')
  t.is(started.length, 65)
})
