import test from 'ava'
import { compareFields } from '../helpers/access/field-oracle.ts'
import { findServer } from '../helpers/database/postgres-server.ts'

// 3,000 requests of callers without the scopes of fields, compared as in fields-oracle.test.ts.

test.serial('1,000 random requests without the scopes of fields: the embedded database', async (t) => {
  t.timeout(3_600_000)
  await compareFields(t, 1_000, undefined)
})

test.serial('2,000 random requests without the scopes of fields: a PostgreSQL server', async (t) => {
  t.timeout(3_600_000)
  const server = findServer((reason) => t.log(reason))
  if (server) await compareFields(t, 11_000, server)
  else t.pass()
})
