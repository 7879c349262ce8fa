import test from 'ava'
import { compareRounds } from '../helpers/access/oracle.ts'
import { findServer } from '../helpers/database/postgres-server.ts'

// 20,000 requests of restricted callers, compared as in oracle.test.ts. The server is four times as fast.

test.serial('5,000 random requests of restricted callers: the embedded database', async (t) => {
  t.timeout(3_600_000)
  await compareRounds(t, 5_000, undefined)
})

test.serial('15,000 random requests of restricted callers: a PostgreSQL server', async (t) => {
  t.timeout(3_600_000)
  const server = findServer((reason) => t.log(reason))
  if (server) await compareRounds(t, 15_000, server)
  else t.pass()
})
