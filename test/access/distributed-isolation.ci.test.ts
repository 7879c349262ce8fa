import test from 'ava'
import { parseConnection } from '../../src/database/connection.ts'
import { migrate } from '../../src/database/migrations/migrator.ts'
import { compareNamespaces, writeBaseline } from '../helpers/access/isolation.ts'
import { imitateCitus } from '../helpers/database/citus.ts'
import { createServerDatabase } from '../helpers/database/database.ts'
import { findServer, PREPARED } from '../helpers/database/postgres-server.ts'
import { tries } from '../helpers/process/run.ts'
import { CITUS_RESTRICTIONS } from '../restricted-engine/citus.ts'
import { createRestrictedEngine } from '../restricted-engine/engine.ts'

const server = findServer(console.log)
const claim = server ? test : test.skip
const REQUESTS = tries(200, 10_000, 400)

/** The coordinator of an engine that has the extension. Its database is empty. */
const coordinator = process.env['TEST_DISTRIBUTED_URL']

claim(
  `${REQUESTS} random requests to four schemas on nodes of Citus get the bytes of PostgreSQL`,
  async (t) => {
    t.timeout(3_600_000)
    let refused: readonly string[] = []
    await compareNamespaces(t, server as string, PREPARED, REQUESTS, [{}], async (made) => {
      await writeBaseline(made)
      if (coordinator) return coordinator
      const database = await createServerDatabase(server as string, t)
      // What is in no distributed schema has no restrictions.
      await migrate(parseConnection(database), made.domain.folder.migrations)
      const engine = await createRestrictedEngine(t, database, { restrictions: CITUS_RESTRICTIONS })
      await imitateCitus(database, [engine.address])
      refused = engine.refused
      return engine.address
    })
    t.deepEqual(refused, [])
  },
)
