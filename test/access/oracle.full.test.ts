import test from 'ava'
import { compareRounds } from '../helpers/access/oracle.ts'
import { findServer } from '../helpers/database/postgres-server.ts'

const REQUESTS = 20_000

test.serial('20,000 requests of restricted callers: the embedded database', async (t) => {
  t.timeout(3_600_000)
  await compareRounds(t, REQUESTS, undefined)
})

test.serial('20,000 requests of restricted callers: a PostgreSQL server', async (t) => {
  t.timeout(3_600_000)
  const server = findServer((reason) => t.log(reason))
  if (server) await compareRounds(t, REQUESTS, server)
  else t.pass()
})
