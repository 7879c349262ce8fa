import test from 'ava'
import { compareNamespaces } from '../helpers/access/isolation.ts'
import { findServer } from '../helpers/database/postgres-server.ts'
import { tries } from '../helpers/process/run.ts'

const server = findServer(console.log)
const claim = server ? test : test.skip
const REQUESTS = tries(400, 20_000, 2_000)

for (const [title, overrides] of [
  ['a pool of their own size', {}],
  ['three connections', { databasePoolSize: 3 }],
] as const) {
  claim(
    `${REQUESTS / 2} random requests to four namespaces in turn get the bytes of four services: with ${title}`,
    async (t) => {
      t.timeout(3_600_000)
      await compareNamespaces(t, server as string, REQUESTS / 2, overrides)
    },
  )
}
