import test from 'ava'
import { createExecutor } from '../../src/graph/execution/operation.ts'
import { createCompleteSchema } from '../../src/service/features.ts'
import { resources } from '../helpers/domain/domain.ts'

function preparing() {
  const run = () => Promise.reject(new Error('Nothing is run here.'))
  return createExecutor({ schema: createCompleteSchema(resources), openSession: {} as never, run })
}

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

test('a variable that does not fit its type is the error of a result, and nothing is read', async (t) => {
  const text = 'query ($id: ID!) { planet(id: $id) { id } }'
  const operation = preparing().prepare({ type: 'query', name: 'planet', text })
  const { errors } = await operation.execute({}, {} as never)
  t.deepEqual(
    errors?.map(({ message }) => message),
    ['Variable "$id" of required type "ID!" was not provided.'],
  )
})
