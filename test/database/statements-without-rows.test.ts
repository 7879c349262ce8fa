import test from 'ava'
import { createTestDatabase, openTestDatabase } from '../helpers/database/database.ts'

test('a statement of a rule can return no rows, no columns, or a value of the type void', async (t) => {
  const { client, close } = await openTestDatabase(await createTestDatabase(t))
  t.teardown(close)
  const statements = [
    'UPDATE planets SET name = $1 WHERE id = $1',
    'SELECT id FROM planets WHERE id = $1',
    'SELECT pg_advisory_xact_lock(hashtext($1))',
    'SELECT pg_advisory_xact_lock(hashtext($1)) AS locked, 1 AS one',
  ]
  for (const text of statements) {
    const run = (runner: Pick<typeof client, '$rows'>) => runner.$rows({ text, values: ['none'] })
    const [outside, inside] = [await run(client), await client.transaction(run)]
    t.deepEqual(inside, outside, text)
  }
})
