import test from 'ava'
import { compareNamespaces } from '../helpers/access/isolation.ts'
import { findServer, PREPARED } from '../helpers/database/postgres-server.ts'
import { tries } from '../helpers/process/run.ts'

const server = findServer(console.log)
const claim = server ? test : test.skip
const REQUESTS = tries(100, 20_000, 1_300)
const names = PREPARED.slice(0, tries(2, 4, 4))

claim(
  `${REQUESTS} random requests to ${names.length} namespaces in turn get the bytes of as many services, also with three connections`,
  async (t) => {
    t.timeout(3_600_000)
    await compareNamespaces(t, server as string, names, REQUESTS, [{}, { databasePoolSize: 3 }])
  },
)
