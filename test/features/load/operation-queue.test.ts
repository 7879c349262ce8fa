import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import type { Slot } from '../../../src/domain/session/slot.ts'
import { FairQueue } from '../../../src/features/load/fair-queue.ts'
import { OperationQueue } from '../../../src/features/load/operation-queue.ts'
import type { Units } from '../../../src/features/load/units.ts'
import type { Caller } from '../../../src/model/access/caller.ts'
import type { Scan } from '../../../src/model/query/list.ts'
import { resourceAt } from '../../helpers/domain/fixtures.ts'

const MEGABYTE = 1024 * 1024

const callerNamed = (identity: string): Caller => ({
  identity,
  scopes: new Set(),
  subject: undefined,
  claims: {},
})
const [ada, bob] = [callerNamed('ada'), callerNamed('bob')]

/** Each unit that is in use lets four requests wait. */
function create({ capacity = 2, deadline = 60_000, writing = 1, tableBytes = 0 } = {}) {
  const writes = new FairQueue({ capacity: writing, share: writing })
  const queue = new OperationQueue(
    { capacity, share: capacity, shareAlone: capacity, deadline },
    {
      units: { of: () => 1 } as unknown as Units,
      sizes: async () => tableBytes,
      lists: new FairQueue({ capacity: 9, share: 1 }),
      writes,
      isStalled: () => writes.used > writing,
    },
  )
  const run = <Result>(caller: Caller, work: (slot: Slot) => Promise<Result>) =>
    queue.around({ type: 'query' }, caller, work)
  return { queue, writes, run }
}

/** Work that ends when it is told to. */
function controlled() {
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  return { end, work: () => ended }
}

test('work beyond the limits is refused at once, and accepted again when there is capacity', async (t) => {
  const { queue, run } = create()
  const { end, work } = controlled()
  const accepted = Array.from({ length: 2 + 8 }, () => run(ada, work))
  await nextTurn()
  t.deepEqual([queue.running, queue.waiting], [2, 8])
  await t.throwsAsync(run(ada, work), { message: /overloaded/ })
  t.throws(() => queue.queue.admit('bob'), { message: /overloaded/ })
  t.deepEqual(queue.shed, { capacity: 2, caller_share: 0, deadline: 0 })
  end()
  await Promise.all(accepted)
  t.deepEqual([queue.running, queue.waiting], [0, 0])
  t.is(await run(ada, async () => 7), 7)
})

test('work beyond the deadline fails for its caller, but counts until it ends', async (t) => {
  const { queue, run } = create({ deadline: 10 })
  const { end, work } = controlled()
  await t.throwsAsync(run(ada, work), { message: /took too long/ })
  t.is(queue.running, 1)
  end()
  await nextTurn()
  t.is(queue.running, 0)
})

test('work beyond the deadline that still waits never starts', async (t) => {
  const { queue, run } = create({ capacity: 1, deadline: 10 })
  const { end, work } = controlled()
  let begun = false
  const running = run(ada, work)
  const waiting = run(ada, async () => {
    begun = true
  })
  const outcomes = await Promise.allSettled([running, waiting])
  t.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  end()
  await nextTurn()
  t.is(queue.running, 0)
  t.false(begun)
})

test('work that fails leaves its place', async (t) => {
  const { queue, run } = create()
  await t.throwsAsync(
    run(ada, () => Promise.reject(new Error('no'))),
    { message: 'no' },
  )
  t.is(queue.running, 0)
  t.is(queue.queue.used, 0)
})

test('an operation goes on with the units of the body of its request', async (t) => {
  const { queue, run } = create({ capacity: 4 })
  queue.bodies.set(ada, await queue.queue.enter('ada', 2))
  const { end, work } = controlled()
  const running = run(ada, work)
  await nextTurn()
  t.is(queue.queue.used, 2 + 1)
  end()
  await running
  t.is(queue.queue.used, 0)
})

test('an operation that needs more units uses so many in all until it ends', async (t) => {
  const { queue, run } = create({ capacity: 4 })
  const used = await run(ada, async (slot) => {
    const amounts: number[] = []
    for (const units of [2, 2, 1, 3]) {
      await slot.need(units)
      amounts.push(queue.queue.used)
    }
    return amounts
  })
  t.deepEqual(used, [2, 2, 2, 3])
  t.is(queue.queue.used, 0)
})

/** Whether a caller, beside another, cannot read the next list at once. */
async function restsAfter(tableBytes: number, scans: readonly Scan[]): Promise<boolean> {
  const { run } = create({ capacity: 9, tableBytes })
  const read = (caller: Caller, milliseconds: number) =>
    run(caller, (slot) => slot.read(scans, () => delay(milliseconds)))
  await read(bob, 0)
  await read(ada, 50)
  let isRead = false
  const next = run(ada, (slot) =>
    slot.read([], async () => {
      isRead = true
    }),
  )
  await delay(10)
  const pauses = !isRead
  await next
  return pauses
}

test('a caller pauses after a scan of 32 KiB and more', async (t) => {
  const scan: readonly Scan[] = [[resourceAt('species'), 1]]
  t.false(await restsAfter(MEGABYTE, []))
  t.false(await restsAfter(MEGABYTE / 64, scan))
  t.true(await restsAfter(MEGABYTE / 32, scan))
  const conditions: readonly Scan[] = [[resourceAt('species'), 2]]
  t.true(await restsAfter(MEGABYTE / 64, conditions))
})

test('writes have a part of the connections, and are refused at once while earlier ones do not end', async (t) => {
  const { run, writes } = create({ capacity: 9, writing: 2 })
  const { end, work } = controlled()
  let begun = 0
  const write = (slot: Slot) =>
    slot.write(async () => {
      begun++
      await work()
    })
  const writing = [ada, ada, bob].map((caller) => run(caller, write))
  await nextTurn()
  t.is(begun, 2)
  const read = run(bob, (slot) => slot.read([], async () => 'read'))
  t.is(await read, 'read')
  const abandoned = [writes.hold('', 1), writes.hold('', 1)]
  await t.throwsAsync(run(bob, write), { message: /does not complete writes/ })
  for (const session of abandoned) session.end()
  end()
  await Promise.all(writing)
  t.is(begun, 3)
})

test('beside others, a caller scans large tables for half of the time', async (t) => {
  const { run } = create({ tableBytes: MEGABYTE })
  const scan: readonly Scan[] = [[resourceAt('species'), 1]]
  const read = (caller: Caller, milliseconds: number) =>
    run(caller, (slot) =>
      slot.read(scan, async () => {
        const begun = performance.now()
        await delay(milliseconds)
        return { begun, ended: performance.now() }
      }),
    )
  await read(bob, 1)
  const first = await read(ada, 60)
  const [second] = await Promise.all([read(ada, 1), read(bob, 1)])
  // A timer may fire a millisecond early.
  t.true(second.begun - first.ended >= first.ended - first.begun - 2)
})
