import test from 'ava'
import { compareFields } from '../helpers/access/field-oracle.ts'

test('a caller without the scopes of fields gets the bytes of definitions without these fields', async (t) => {
  t.timeout(600_000)
  await compareFields(t, 400)
})
