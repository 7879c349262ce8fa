import { setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import { shareRead } from '../../src/domain/session/shared-reads.ts'
import type { Slot } from '../../src/domain/session/slot.ts'
import { type Abortable, FairQueue } from '../../src/features/load/fair-queue.ts'
import { abortable } from '../helpers/load/abortable.ts'

/** One read at a time, which ends when told to. */
function readsOfOne() {
  const queue = new FairQueue({ capacity: 1, share: 1 })
  const ends: (() => void)[] = []
  let count = 0
  const run = async () => {
    const number = ++count
    await new Promise<void>((resolve) => ends.push(resolve))
    return number
  }
  const slotOf = (caller: string, until: Abortable) => ({
    async read(_: unknown, work: () => Promise<unknown>) {
      const lease = await queue.enter(caller, 1, until)
      return work().finally(() => lease.end())
    },
  })
  const client = {}
  return {
    read: (caller: string, key: string, until = abortable()) =>
      shareRead(slotOf(caller, until) as unknown as Slot, { client, key, scans: [], run }),
    async end() {
      ends.shift()?.()
      for (let turn = 0; turn < 3; turn++) await nextTurn()
    },
  }
}

test('reads that arrive while an equal one runs are sent once, after it', async (t) => {
  const { read, end } = readsOfOne()
  const first = read('a', 'x')
  await nextTurn()
  const waiting = [read('a', 'x'), read('a', 'y'), read('b', 'x')]
  await nextTurn()
  for (let number = 0; number < 3; number++) await end()
  t.is(await first, 1)
  t.deepEqual(await Promise.all(waiting), [3, 2, 3])
})

test('a caller that no longer waits does not end an equal read of another', async (t) => {
  const { read, end } = readsOfOne()
  const first = read('a', 'x')
  await nextTurn()
  const deadline = abortable()
  const withdrawn = read('a', 'y', deadline)
  const other = read('b', 'y')
  await nextTurn()
  deadline.abort(new Error('too late'))
  await t.throwsAsync(withdrawn, { message: 'too late' })
  await nextTurn()
  await end()
  await end()
  t.deepEqual(await Promise.all([first, other]), [1, 2])
})
