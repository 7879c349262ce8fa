import test from 'ava'
import { compareFields } from '../helpers/access/field-oracle.ts'
import { tries } from '../helpers/process/run.ts'

const REQUESTS = tries(400, 20_000, 2_000)

test(`${REQUESTS} random requests without the scopes of fields get the bytes of definitions without these fields`, async (t) => {
  t.timeout(3_600_000)
  await compareFields(t, REQUESTS)
})
