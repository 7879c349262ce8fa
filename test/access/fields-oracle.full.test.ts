import test from 'ava'
import { compareFields } from '../helpers/access/field-oracle.ts'
import { findServer } from '../helpers/database/postgres-server.ts'

// 20,000 requests of callers without the scopes of fields, compared as in fields-oracle.test.ts.

test.serial('5,000 random requests without the scopes of fields: the embedded database', async (t) => {
  t.timeout(3_600_000)
  await compareFields(t, 5_000, undefined)
})

test.serial('15,000 random requests without the scopes of fields: a PostgreSQL server', async (t) => {
  t.timeout(3_600_000)
  const server = findServer((reason) => t.log(reason))
  if (server) await compareFields(t, 15_000, server)
  else t.pass()
})
