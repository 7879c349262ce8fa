import test from 'ava'
import { parse } from 'graphql'
import type { CostEstimator } from '../../../src/features/load/cost.ts'
import { pauseOf, Units } from '../../../src/features/load/units.ts'
import type { OperationDocument, OperationType } from '../../../src/graph/execution/run-operation.ts'

/** Operations whose cost is their limit, and how often it was estimated. */
function create() {
  const estimated: unknown[] = []
  const costs = {
    response({ variables }: { variables: { limit?: number } }) {
      estimated.push(variables)
      return variables.limit ?? 7
    },
  } as unknown as CostEstimator
  return { units: new Units(costs), estimated }
}

function operation(type: OperationType, sizedBy?: string): OperationDocument {
  return { type, document: () => parse('{ collections { path } }'), sizedBy }
}

test('a read counts 1, a write 6, and 64 KiB of the largest possible response 1', (t) => {
  const { units } = create()
  const unitsOf = (type: OperationType, limit: number) =>
    units.of({ type, parts: [[operation(type), { limit }]] })
  t.is(unitsOf('query', 0), 1)
  t.is(unitsOf('query', 263), 1 + 1)
  t.is(unitsOf('mutation', 0), 6)
  t.is(units.of({ type: 'query' }), 1)
  t.is(units.of({ type: 'mutation' }), 6)
  const write = operation('mutation')
  const parts = Array.from({ length: 3 }, () => [write, {}] as const)
  t.is(units.of({ type: 'mutation', parts }), 18)
})

test('the units of an operation are estimated once for each value of the variable that sizes it', (t) => {
  const { units, estimated } = create()
  const sized = operation('query', 'limit')
  const counts = [263, 525, 263, 525].map((limit, page) => units.ofParts([[sized, { limit, page }]]))
  t.deepEqual(counts, [2, 3, 2, 3])
  t.is(estimated.length, 2)
  const fixed = operation('query')
  for (const id of ['one', 'two']) units.ofParts([[fixed, { id }]])
  t.is(estimated.length, 3)
})

test('after work that blocked the event loop, a caller pauses nine times as long, but at most a second', (t) => {
  t.deepEqual([0, 20, 111, 112, 5_000].map(pauseOf), [0, 180, 999, 1_000, 1_000])
})
