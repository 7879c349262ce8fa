import test from 'ava'
import { statementName } from '../../src/database/sql/statement.ts'

// In a process of its own, whose other statements would not be prepared any more.
test('at most 500 statements are prepared on each connection, and these stay so', (t) => {
  const named = () => Array.from({ length: 600 }, (_, number) => statementName({ sql: `SELECT ${number}` }))
  const names = named()
  t.is(names.indexOf(''), 500)
  t.is(new Set(names.slice(0, 500)).size, 500)
  t.deepEqual(named(), names)
})
