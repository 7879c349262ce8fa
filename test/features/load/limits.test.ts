import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import type { Slot } from '../../../src/domain/session/slot.ts'
import { limitLoad } from '../../../src/features/load/index.ts'
import { ONLY_NAMESPACE } from '../../../src/model/access/caller.ts'
import { createCompleteSchema } from '../../../src/service/features.ts'
import { resources } from '../../helpers/domain/domain.ts'
import { until } from '../../helpers/process/until.ts'

const schema = createCompleteSchema(resources)

/** So long a caller has to be the only one to count as alone. */
const ALONE_MILLISECONDS = 1_050

/** Operations of callers that last until they are told to end, and what of them has begun. */
function serve(t: ExecutionContext, { capacity = 64, share = 64, connections = 10 }) {
  const abandoned = { count: 0, hold: () => () => {} }
  const database = { client: {}, pool: { options: { max: connections }, abandoned } }
  const settings = {
    loadCapacity: capacity,
    callerShare: share,
    databaseTimeout: 60_000,
    rateLimit: 0,
    graphqlMaxDepth: 12,
    graphqlMaxCost: 20_000,
  }
  const limits = limitLoad({ settings, schema, resources })
  limits.open?.({ namespace: ONLY_NAMESPACE, database: database as never })
  const begun: string[] = []
  let end = () => {}
  let ended = Promise.resolve()
  const holdOperations = () => {
    ended = new Promise((resolve) => {
      end = resolve
    })
  }
  holdOperations()
  const wait = (name: string) => {
    begun.push(name)
    return ended
  }
  const kinds = {
    operation: () => wait('operation'),
    list: (slot: Slot) => slot.read([], () => wait('list')),
    write: (slot: Slot) => slot.write(() => wait('write')),
  }
  /** How many of these operations begin, and how many are refused. */
  async function begin(identity: string, count: number, kind: keyof typeof kinds = 'operation') {
    const caller = { identity, scopes: new Set(), subject: undefined, claims: {} } as never
    const before = begun.length
    let refused = 0
    for (let number = 0; number < count; number++)
      limits?.around?.({ type: 'query' }, caller, kinds[kind]).catch(() => refused++)
    // One operation of a caller starts in each.
    for (let turn = 0; turn < 10 * count; turn++) await nextTurn()
    return [begun.length - before, refused]
  }
  async function endAll() {
    end()
    ended = Promise.resolve()
    await until(() => limits?.load?.running === 0 && limits.load.waiting === 0)
    holdOperations()
  }
  t.teardown(endAll)
  return { begin, endAll, abandoned }
}

test('a caller uses its share of the capacity beside others, and half of it alone', async (t) => {
  const { begin, endAll } = serve(t, { capacity: 8, share: 3 })
  t.deepEqual(await begin('ada', 9), [3, 0])
  t.deepEqual(await begin('bob', 9), [3, 0])
  t.deepEqual(await begin('cy', 9), [2, 0])
  await endAll()
  await delay(ALONE_MILLISECONDS)
  // The first one is not alone yet: the last one before it was of another caller.
  await begin('cy', 1)
  await delay(ALONE_MILLISECONDS)
  t.deepEqual(await begin('cy', 9), [3, 0])
})

test('four times as many operations may wait as run, of a caller and in all', async (t) => {
  const { begin } = serve(t, { capacity: 6, share: 2 })
  t.deepEqual(await begin('ada', 20), [2, 20 - 2 - 4 * 3])
  t.deepEqual(await begin('bob', 20), [2, 20 - 2 - 4 * 3])
  t.deepEqual(await begin('cy', 3), [2, 1])
})

test('a share above the capacity is the capacity, and one above half of it applies alone, too', async (t) => {
  t.deepEqual(await serve(t, { capacity: 4, share: 9 }).begin('ada', 9), [4, 0])
  t.deepEqual(await serve(t, { capacity: 4, share: 3 }).begin('ada', 9), [3, 0])
})

test('the lists of a caller use one connection beside others, and alone all but two', async (t) => {
  for (const [connections, alone] of [
    [10, 8],
    [4, 2],
    [3, 1],
    [1, 1],
  ] as const) {
    const { begin, endAll } = serve(t, { connections })
    t.deepEqual(await begin('ada', 12, 'list'), [1, 0], `${connections} connections`)
    await endAll()
    await delay(ALONE_MILLISECONDS)
    t.deepEqual(await begin('ada', 12, 'list'), [alone, 0], `${connections} connections, alone`)
  }
})

test('writes use half of the connections, less sessions that earlier ones have left on the server', async (t) => {
  for (const [connections, writing] of [
    [10, 5],
    [5, 3],
    [1, 1],
  ] as const) {
    const { begin } = serve(t, { connections })
    t.deepEqual(await begin('ada', 12, 'write'), [writing, 0], `${connections} connections`)
  }
  const { begin, endAll, abandoned } = serve(t, { connections: 6 })
  const release = abandoned.hold()
  abandoned.count = 1
  t.deepEqual(await begin('ada', 3, 'write'), [2, 0])
  await endAll()
  abandoned.count = 3
  t.deepEqual(await begin('ada', 3, 'write'), [0, 3])
  abandoned.count = 2
  release()
  t.deepEqual(await begin('ada', 4, 'write'), [3, 0])
})
