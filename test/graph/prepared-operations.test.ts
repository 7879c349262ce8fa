import test from 'ava'
import type { CostEstimator } from '../../src/graph/execution/cost.ts'
import { createExecutor } from '../../src/graph/execution/operation.ts'
import { createCompleteSchema } from '../../src/service/features.ts'
import { resources } from '../helpers/domain/domain.ts'

/** Makes operations, and counts how often a cost is estimated. */
function preparing() {
  const estimated: unknown[] = []
  const costs = {
    response({ variables }: { variables: { limit?: number } }) {
      estimated.push(variables)
      return variables.limit ?? 7
    },
  } as unknown as CostEstimator
  const run = () => Promise.reject(new Error('Nothing is run here.'))
  const { prepare } = createExecutor({
    schema: createCompleteSchema(resources),
    domain: {} as never,
    costs,
    run,
  })
  return { prepare, estimated }
}

const LIST = `query ($page: Int!, $limit: Int!) {
  list: planetPage(page: $page, limit: $limit, sort: []) { items { id } }
}`

test('the cost of an operation is estimated once for each value of the variable that sizes it', (t) => {
  const { prepare, estimated } = preparing()
  const sized = prepare({ type: 'query', name: 'planetPage', text: LIST, sizedBy: 'limit' })
  const limits = [10, 20, 10, 20]
  t.deepEqual(
    limits.map((limit, page) => sized.cost({ page, limit })),
    limits,
  )
  t.is(estimated.length, 2)
})

test('without such a variable, the cost of an operation is estimated once', (t) => {
  const { prepare, estimated } = preparing()
  const fixed = prepare({
    type: 'query',
    name: 'planet',
    text: 'query ($id: ID!) { planet(id: $id) { id } }',
  })
  t.deepEqual(
    ['one', 'two'].map((id) => fixed.cost({ id })),
    [7, 7],
  )
  t.is(estimated.length, 1)
})

test('an operation with a variable in a part of an argument is refused', (t) => {
  const { prepare } = preparing()
  for (const argument of [
    'filter: { name: { equals: $name } }',
    'filter: { not: { name: { equals: $name } } }',
    'sort: [], search: $name, filter: { name: { in: [$name] } }',
  ]) {
    const text = `query ($name: String!) { planetPage(page: 1, limit: 1, ${argument}) { items { id } } }`
    const operation = prepare({ type: 'query', name: 'planetPage', text })
    t.throws(() => operation.execute({ name: 'x' }, {} as never), {
      message: 'The variable name must be a whole argument.',
    })
  }
})
