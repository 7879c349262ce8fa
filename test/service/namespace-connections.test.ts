import test from 'ava'
import { findServer } from '../helpers/database/postgres-server.ts'
import { until } from '../helpers/process/until.ts'
import { query, startMany } from '../helpers/service/namespaces.ts'

const server = findServer(console.log)
const claim = server ? test : test.skip

claim(
  'a request waits DATABASE_TIMEOUT for a connection of its namespace, and the next one gets it',
  async (t) => {
    const service = await startMany(t, server as string, { databaseTimeout: 2_000 })
    const { north } = service.clients
    const isServed = async () => (await north.get('/planets')).status === 200
    await until(isServed)
    await query(service.databaseUrl, async (send) => {
      await send('BEGIN')
      await send('LOCK TABLE namespace_north.planets')
      const waiting = Array.from({ length: 20 }, (_, index) => north.get(`/planets?limit=${index + 1}`))
      const answers = await Promise.all(waiting)
      t.deepEqual([...new Set(answers.map(({ status }) => status))], [503])
      await send('ROLLBACK')
    })
    await until(isServed)
  },
)
