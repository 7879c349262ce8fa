import test from 'ava'
import { compareRounds } from '../helpers/access/oracle.ts'
import { tries } from '../helpers/process/run.ts'

const REQUESTS = tries(400, 20_000, 2_000)

test(`${REQUESTS} random requests of restricted callers get the bytes of a database of the admitted rows alone`, async (t) => {
  t.timeout(3_600_000)
  await compareRounds(t, REQUESTS)
})
