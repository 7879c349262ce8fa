import test from 'ava'
import { compareRounds } from '../helpers/access/oracle.ts'

test('a restricted caller gets the bytes that a database of the admitted rows alone would answer with', async (t) => {
  t.timeout(600_000)
  await compareRounds(t, 400)
})
