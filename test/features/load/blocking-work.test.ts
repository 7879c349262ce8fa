import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import { parse } from 'graphql'
import { blockingWork } from '../../../src/features/load/document-guard.ts'
import { FairQueue } from '../../../src/features/load/fair-queue.ts'

/** Begins blocking work of a caller whose share is 4, and returns the names of what has begun. */
function create() {
  const queue = new FairQueue({ capacity: 9, share: 4 })
  const { document, estimate, introspection } = blockingWork(() => queue)
  const begun: string[] = []
  const begin = async (name: string, work: (contextValue: never) => Promise<() => void>) => {
    const lease = await queue.enter('ada', 1)
    const slot = { need: (units: number) => lease.add(units) }
    const end = await work({ session: { caller: { identity: 'ada' }, slot } } as never)
    begun.push(name)
    return () => {
      end()
      lease.end()
    }
  }
  return {
    queue,
    begun,
    /** A document of so many characters. */
    document: (name: string, characters: number) =>
      begin(name, (contextValue) => document({ source: ' '.repeat(characters), contextValue })),
    estimate: (name: string, fields: number) =>
      begin(name, (contextValue) =>
        estimate({ document: parse(`{ ${'a '.repeat(fields)} }`), contextValue } as never),
      ),
    execution: (name: string, text: string) =>
      begin(name, (contextValue) => introspection({ document: parse(text), contextValue } as never)),
  }
}

test('a long document and an introspection take a whole share, and nothing else does', async (t) => {
  const { begun, document, execution } = create()
  const end = await document('long', 1_001)
  const short = document('short', 1_000)
  await nextTurn()
  t.deepEqual(begun, ['long'])
  end()
  const endShort = await short
  endShort()
  const endIntrospection = await execution('schema', '{ __schema { types { name } } }')
  const type = execution('type', '{ __type(name: "Moon") { name } }')
  await nextTurn()
  t.deepEqual(begun, ['long', 'short', 'schema'])
  endIntrospection()
  await type
  t.deepEqual(begun, ['long', 'short', 'schema', 'type'])
})

test('the cost of a document with more than 500 fields is estimated in a turn of its own', async (t) => {
  const { begun, estimate } = create()
  const end = await estimate('many', 501)
  const few = estimate('few', 500)
  await nextTurn()
  t.deepEqual(begun, ['many'])
  end()
  await few
  t.deepEqual(begun, ['many', 'few'])
})

test('after blocking work, its caller pauses for nine times as long, and another one does not', async (t) => {
  const { queue, execution, begun } = create()
  const end = await execution('schema', '{ __schema { types { name } } }')
  await delay(20)
  end()
  void execution('read', '{ moonPage(planetId: "x") { totalCount } }')
  const other = await queue.enter('bob', 4)
  other.end()
  const ended = performance.now()
  while (begun.length === 1) await delay(5)
  t.true(performance.now() - ended >= 9 * 20 - 5)
})
