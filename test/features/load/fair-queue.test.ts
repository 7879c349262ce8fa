import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import { FairQueue, type Lease } from '../../../src/features/load/fair-queue.ts'
import { abortable } from '../../helpers/load/abortable.ts'

/** Enters requests, and records when each starts. The first word of a name is the caller. */
function requests(queue: FairQueue) {
  const started: string[] = []
  const leases = new Map<string, Lease>()
  const enter = async (name: string, units = 1, until = abortable()) => {
    const [caller = ''] = name.split(' ')
    leases.set(name, await queue.enter(caller, units, until))
    started.push(name)
  }
  const leaseOf = (name: string) => leases.get(name) as Lease
  return {
    started,
    enter,
    leaseOf,
    async enterAll(...names: readonly string[]) {
      for (const name of names) void enter(name)
      await nextTurn()
    },
    async end(name: string) {
      leaseOf(name).end()
      await nextTurn()
      await nextTurn()
    },
  }
}

test('waiting callers take turns, regardless of the number of their requests', async (t) => {
  const { enterAll, end, started } = requests(new FairQueue({ capacity: 1, share: 1 }))
  await enterAll('a 1', 'a 2', 'a 3', 'a 4', 'b 1', 'c 1', 'b 2')
  for (let index = 0; index < 7; index++) await end(started[index] as string)
  t.deepEqual(started, ['a 1', 'a 2', 'b 1', 'c 1', 'a 3', 'b 2', 'a 4'])
})

test('a caller uses its share, and leaves the rest to others', async (t) => {
  const { enterAll, end, started } = requests(new FairQueue({ capacity: 4, share: 2 }))
  await enterAll('a 1', 'a 2', 'a 3', 'b 1')
  t.deepEqual(started, ['a 1', 'a 2', 'b 1'])
  await end('a 1')
  t.deepEqual(started, ['a 1', 'a 2', 'b 1', 'a 3'])
})

test('a request that does not fit yet does not hold up those of other callers', async (t) => {
  const { enter, end, started } = requests(new FairQueue({ capacity: 10, share: 10 }))
  for (const [name, units] of [
    ['a 1', 6],
    ['b 1', 8],
    ['c 1', 2],
  ] as const)
    void enter(name, units)
  await nextTurn()
  t.deepEqual(started, ['a 1', 'c 1'])
  await end('a 1')
  t.deepEqual(started, ['a 1', 'c 1', 'b 1'])
})

test('a request for more than the share starts when its caller uses nothing else', async (t) => {
  const queue = new FairQueue({ capacity: 10, share: 5 })
  const { enter, end, started } = requests(queue)
  void enter('a 1', 1)
  void enter('a 2', 99)
  void enter('b 1', 99)
  await nextTurn()
  t.deepEqual(started, ['a 1', 'b 1'])
  await end('a 1')
  t.deepEqual(started, ['a 1', 'b 1', 'a 2'])
  t.is(queue.used, 10)
})

test('in one turn of the event loop, no more requests of a caller start than its share', async (t) => {
  const { enterAll, leaseOf, started } = requests(new FairQueue({ capacity: 9, share: 2 }))
  await enterAll('a 1', 'a 2', 'a 3', 'a 4')
  leaseOf('a 1').end()
  leaseOf('a 2').end()
  t.deepEqual(started, ['a 1', 'a 2'])
  await nextTurn()
  t.deepEqual(started, ['a 1', 'a 2', 'a 3', 'a 4'])
})

test('a withdrawn request never starts, and leaves its place to the next', async (t) => {
  const queue = new FairQueue({ capacity: 1, share: 1, waiting: 1 })
  const { enter, end, started } = requests(queue)
  void enter('a 1')
  const deadline = abortable()
  const withdrawn = enter('b 1', 1, deadline)
  await nextTurn()
  t.true(queue.isFull())
  deadline.abort(new Error('late'))
  await t.throwsAsync(withdrawn, { message: 'late' })
  t.false(queue.isFull())
  void enter('c 1')
  await end('a 1')
  t.deepEqual(started, ['a 1', 'c 1'])
  t.deepEqual([queue.used, queue.waiting], [1, 0])
})

test('a request that can neither start nor wait is refused', async (t) => {
  const refusal = () => new Error('full')
  const queue = new FairQueue({ capacity: 4, share: 2, waiting: 3, waitingShare: 2, refusal })
  const { enterAll } = requests(queue)
  await enterAll('a 1', 'a 2', 'a 3', 'a 4')
  t.deepEqual([queue.isFull('a'), queue.isFull('b'), queue.isFull()], [true, false, false])
  await t.throwsAsync(queue.enter('a', 1), { message: 'full' })
  await enterAll('b 1', 'b 2', 'b 3')
  t.true(queue.isFull())
  await t.throwsAsync(queue.enter('c', 1), { message: 'full' })
})

test('units that are held count, at most a share of them', async (t) => {
  const queue = new FairQueue({ capacity: 10, share: 5 })
  const { enter, started } = requests(queue)
  const [first, second] = [queue.hold('a', 99), queue.hold('a', 99)]
  t.is(queue.used, 10)
  void enter('b 1')
  first.end()
  await nextTurn()
  t.deepEqual(started, ['b 1'])
  void enter('a 1')
  await nextTurn()
  t.deepEqual(started, ['b 1'])
  second.end()
  second.end()
  await nextTurn()
  t.deepEqual([started, queue.used], [['b 1', 'a 1'], 2])
})

test('requests that need more do not wait for each other, and precede those that arrived later', async (t) => {
  const queue = new FairQueue({ capacity: 9, share: 4 })
  const { enterAll, leaseOf, started } = requests(queue)
  await enterAll('a 1', 'a 2', 'a 3', 'a 4', 'a 5')
  const [one, two] = [leaseOf('a 1'), leaseOf('a 2')]
  const grown: string[] = []
  void one.add(1).then(() => grown.push('a 1'))
  void two.add(99).then(() => grown.push('a 2'))
  await nextTurn()
  await nextTurn()
  t.deepEqual([grown, queue.used], [['a 1'], 2 + 2])
  for (const name of ['a 3', 'a 4', 'a 1']) leaseOf(name).end()
  await nextTurn()
  await nextTurn()
  t.deepEqual([grown, queue.used], [['a 1', 'a 2'], 4])
  t.is(started.length, 4)
  two.end()
  await nextTurn()
  t.is(started.length, 5)
})

test('a request grows by one amount after the other, up to a share', async (t) => {
  const queue = new FairQueue({ capacity: 9, share: 4 })
  const lease = await queue.enter('a', 1)
  await Promise.all([lease.add(1), lease.add(1), lease.add(9), lease.add(9)])
  t.is(queue.used, 4)
  lease.end()
  t.is(queue.used, 0)
})

test('two growths of a request that wait add no more than a share', async (t) => {
  const queue = new FairQueue({ capacity: 3, share: 2 })
  const lease = await queue.enter('a', 1)
  const other = await queue.enter('b', 2)
  const growing = [lease.add(1), lease.add(1)]
  await nextTurn()
  other.end()
  await Promise.all(growing)
  t.is(queue.used, 2)
})

test('a request that uses a share grows without waiting, even beyond the capacity', async (t) => {
  const queue = new FairQueue({ capacity: 2, share: 2 })
  const lease = await queue.enter('a', 2)
  queue.hold('b', 2)
  const growing = lease.add(1)
  await nextTurn()
  t.is(queue.waiting, 0)
  await growing
  t.is(queue.used, 4)
})

test('a request that no longer waits for more uses nothing', async (t) => {
  const queue = new FairQueue({ capacity: 4, share: 4 })
  const lease = await queue.enter('a', 2)
  const other = await queue.enter('a', 2)
  const deadline = abortable()
  const growing = lease.add(1, deadline)
  await Promise.resolve()
  await Promise.resolve()
  deadline.abort(new Error('late'))
  await t.throwsAsync(growing, { message: 'late' })
  lease.end()
  t.is(queue.used, 2)
  other.end()
  t.is(queue.used, 0)
})

/** How many requests of a caller start, which end at once. */
async function startedAtOnce(queue: FairQueue, caller: string): Promise<number> {
  const before = queue.used
  const leases: Lease[] = []
  const entering = Array.from({ length: 9 }, () => queue.enter(caller, 1).then((lease) => leases.push(lease)))
  await nextTurn()
  const count = queue.used - before
  for (let number = 0; number < 9; number++) {
    leases.pop()?.end()
    await nextTurn()
  }
  await Promise.all(entering)
  return count
}

test('a caller that is alone for a second may use more, until another one comes', async (t) => {
  const queue = new FairQueue({ capacity: 8, share: 2, shareAlone: 6 })
  t.is(await startedAtOnce(queue, 'a'), 2)
  await delay(1_050)
  t.is(await startedAtOnce(queue, 'a'), 6)
  const other = await queue.enter('b', 1)
  t.is(await startedAtOnce(queue, 'a'), 2)
  await delay(1_050)
  t.is(await startedAtOnce(queue, 'a'), 2, 'the other one still uses something')
  other.end()
  await delay(1_050)
  t.is(await startedAtOnce(queue, 'a'), 6)
})

test('a caller pauses beside others, and not alone', async (t) => {
  const queue = new FairQueue({ capacity: 8, share: 4, shareAlone: 6 })
  await queue.enter('a', 1)
  queue.pause('a', 3, 20)
  t.is(queue.take('a', 1), undefined)
  await delay(40)
  queue.take('a', 1)?.end()
  t.is(queue.used, 1)
  await delay(1_050)
  queue.pause('a', 3, 1_000)
  t.truthy(queue.take('a', 3))
})

test('however often a caller pauses, others have the whole capacity', async (t) => {
  const queue = new FairQueue({ capacity: 4, share: 4 })
  await queue.enter('a', 1)
  for (let number = 0; number < 9; number++) queue.pause('a', Number.POSITIVE_INFINITY, 30)
  t.truthy(queue.take('b', 3))
  const next = queue.enter('a', 1)
  t.is(queue.waiting, 1)
  t.is(queue.used, 4)
  await delay(60)
  t.is(queue.waiting, 1, 'the capacity is used')
  queue.hold('b', 0).use(-3)
  ;(await next).end()
  t.is(queue.used, 1)
})

test('another queue can say whether a caller is alone', async (t) => {
  const isAlone = (caller: string) => caller === 'a'
  const queue = new FairQueue({ capacity: 8, share: 2, shareAlone: 6, isAlone })
  t.deepEqual([await startedAtOnce(queue, 'a'), await startedAtOnce(queue, 'b')], [6, 2])
})
