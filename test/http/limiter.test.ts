import test from 'ava'
import { ConnectionShares } from '../../src/graph/execution/connections.ts'
import { type Abortable, Limiter } from '../../src/http/limiter.ts'
import type { Scan } from '../../src/model/query/list.ts'
import { resourceAt } from '../helpers/domain/fixtures.ts'

/** Acquires and notes when that succeeded. */
function requests(limiter: Limiter) {
  const started: string[] = []
  const releases = new Map<string, () => void>()
  return {
    started,
    async request(name: string, amount = 1, until?: Abortable) {
      const [caller = ''] = name.split(' ')
      const release = await limiter.acquire(caller, amount, until)
      started.push(name)
      releases.set(name, release)
    },
    async release(name: string) {
      releases.get(name)?.()
      await settled()
    },
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('waiting callers are served in turn, regardless of the number of their requests', async (t) => {
  const { request, release, started } = requests(new Limiter({ capacity: 1, share: 1 }))
  for (const name of ['a 1', 'a 2', 'a 3', 'a 4', 'b 1', 'c 1', 'b 2']) void request(name)
  await settled()
  for (let index = 0; index < 7; index++) await release(started[index] as string)
  t.deepEqual(started, ['a 1', 'a 2', 'b 1', 'c 1', 'a 3', 'b 2', 'a 4'])
})

test('one caller uses no more than its share, and leaves the rest to others', async (t) => {
  const { request, release, started } = requests(new Limiter({ capacity: 4, share: 2 }))
  for (const name of ['a 1', 'a 2', 'a 3', 'b 1']) void request(name)
  await settled()
  t.deepEqual(started, ['a 1', 'a 2', 'b 1'])
  await release('a 1')
  t.deepEqual(started, ['a 1', 'a 2', 'b 1', 'a 3'])
})

test('a large request that does not fit yet does not hold up small ones of other callers', async (t) => {
  const { request, release, started } = requests(new Limiter({ capacity: 10, share: 10 }))
  for (const [name, amount] of [
    ['a 1', 6],
    ['b 1', 8],
    ['c 1', 2],
  ] as const)
    void request(name, amount)
  await settled()
  t.deepEqual(started, ['a 1', 'c 1'])
  await release('a 1')
  t.deepEqual(started, ['a 1', 'c 1', 'b 1'])
})

test('a request for more than the capacity is served alone', async (t) => {
  const { request, release, started } = requests(new Limiter({ capacity: 10, share: 5 }))
  void request('a 1', 1)
  void request('b 1', 99)
  await settled()
  t.deepEqual(started, ['a 1'])
  await release('a 1')
  t.deepEqual(started, ['a 1', 'b 1'])
  void request('c 1')
  await settled()
  t.deepEqual(started, ['a 1', 'b 1'])
  await release('b 1')
  t.deepEqual(started, ['a 1', 'b 1', 'c 1'])
})

test('a withdrawn request is never served, and makes room for the next', async (t) => {
  const limiter = new Limiter({ capacity: 1, share: 1, waiting: 1 })
  const { request, release, started } = requests(limiter)
  void request('a 1')
  const deadline = abortable()
  const withdrawn = request('b 1', 1, deadline)
  await settled()
  t.true(limiter.isFull())
  deadline.abort(new Error('late'))
  await t.throwsAsync(withdrawn, { message: 'late' })
  t.false(limiter.isFull())
  void request('c 1')
  await release('a 1')
  t.deepEqual(started, ['a 1', 'c 1'])
  t.deepEqual([limiter.used, limiter.waiting], [1, 0])
})

test('a limiter is full for a caller that uses its share and waits for its share, and not for others', async (t) => {
  const limiter = new Limiter({ capacity: 4, share: 2, waiting: 4, waitingShare: 2 })
  const { request } = requests(limiter)
  for (let number = 0; number < 4; number++) void request(`a ${number}`)
  await settled()
  t.true(limiter.isFull('a'))
  t.false(limiter.isFull('b'))
  t.false(limiter.isFull())
})

test('beside others a limiter is full for a caller that uses the smaller share', async (t) => {
  const limiter = new Limiter({ capacity: 8, share: 6, shareBesideOthers: 2, waitingShare: 1 })
  for (let number = 0; number < 2; number++) await limiter.acquire('a', 1)
  t.false(limiter.isFull('a'))
  void limiter.acquire('a', 1)
  t.true(limiter.isFull('a'))
})

test('a held amount counts, whether it fits or not', async (t) => {
  const limiter = new Limiter({ capacity: 10, share: 5 })
  const { request, started } = requests(limiter)
  const first = limiter.hold('a', 8)
  const second = limiter.hold('a', 8)
  t.is(limiter.used, 16)
  void request('b 1', 1)
  first()
  await settled()
  t.deepEqual(started, ['b 1'])
  void request('a 1', 1)
  await settled()
  t.deepEqual(started, ['b 1'])
  second()
  await settled()
  t.deepEqual(started, ['b 1', 'a 1'])
})

test('a caller uses less beside others than alone, which it is after a thousand requests in a row', async (t) => {
  const limiter = new Limiter({ capacity: 8, share: 6, shareBesideOthers: 2 })
  const inUse = async () => {
    const releases: (() => void)[] = []
    for (let number = 0; number < 8; number++) {
      void limiter.acquire('a', 1).then((release) => releases.push(release))
    }
    await settled()
    const count = limiter.used
    while (releases.length > 0) {
      releases.pop()?.()
      await settled()
    }
    return count
  }
  t.is(await inUse(), 2, 'nothing is known yet')
  for (let number = 0; number < 1_000; number++) (await limiter.acquire('a', 1))()
  t.is(await inUse(), 6)
  const release = await limiter.acquire('b', 1)
  t.is((await inUse()) - 1, 2)
  release()
})

const unused = { writes: new Limiter({ capacity: 1, share: 1 }), isStalled: () => false, waited() {} }

test('reads of a small table with many conditions wait for each other as scans of a large one do', async (t) => {
  const sizes = async () => 3 * 1024 * 1024
  const connections = new Limiter({ capacity: 9, share: 9 })
  const scans = new Limiter({ capacity: 1, share: 1 })
  const shares = new ConnectionShares({ ...unused, connections, scans, sizes })
  const atOnce = async (passes: number) => {
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const species = resourceAt('species')
    const needed: readonly Scan[] = passes > 0 ? [[species, passes]] : []
    const reads = ['x', 'y', 'z'].map((key) =>
      shares.read('a', abortable(), { client: shares, key, scans: needed, run: () => ended }),
    )
    await settled()
    const running = connections.used
    end()
    await Promise.all(reads)
    return running
  }
  t.is(await atOnce(0), 3)
  t.is(await atOnce(1), 3)
  t.is(await atOnce(2), 1)
})

/** Shares of a single connection, with reads that end when told to. */
function sharesOfOne() {
  const one = new Limiter({ capacity: 1, share: 1 })
  const sizes = async () => 0
  const shares = new ConnectionShares({ ...unused, connections: one, scans: one, sizes })
  const ends: (() => void)[] = []
  let count = 0
  const run = async () => {
    const number = ++count
    await new Promise<void>((resolve) => ends.push(resolve))
    return number
  }
  const client = {}
  return {
    read: (caller: string, key: string, until: Abortable = abortable()) =>
      shares.read(caller, until, { client, key, scans: [], run }),
    async end() {
      ends.shift()?.()
      await settled()
      await settled()
    },
  }
}

test('reads that arrive while an equal one runs are sent once, after it', async (t) => {
  const { read, end } = sharesOfOne()
  const first = read('a', 'x')
  await settled()
  const waiting = [read('a', 'x'), read('a', 'y'), read('b', 'x')]
  await settled()
  for (let number = 0; number < 3; number++) await end()
  t.is(await first, 1)
  t.deepEqual(await Promise.all(waiting), [3, 2, 3])
})

test('a caller that no longer waits does not end an equal read of another', async (t) => {
  const { read, end } = sharesOfOne()
  const first = read('a', 'x')
  await settled()
  const deadline = abortable()
  const withdrawn = read('a', 'y', deadline)
  const other = read('b', 'y')
  await settled()
  deadline.abort(new Error('too late'))
  await t.throwsAsync(withdrawn, { message: 'too late' })
  await settled()
  await end()
  await end()
  t.deepEqual(await Promise.all([first, other]), [1, 2])
})

/** Work that a test aborts. */
function abortable(): Abortable & { abort(reason: unknown): void } {
  const listeners = new Set<(reason: unknown) => void>()
  return {
    onAbort(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    abort: (reason) => listeners.forEach((listener) => void listener(reason)),
  }
}
