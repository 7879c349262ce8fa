// Loaded first by each process of tests with ava.restricted.config.js: puts a restricted engine in front of TEST_DATABASE_URL.
// TEST_ENGINE_ALLOWS names restrictions to leave out, with a semicolon between them; TEST_ENGINE_ABORTS is the rate of
// statements and commits that the engine ends (0.02, for instance), and TEST_ENGINE_SEED chooses them.
import { createRestrictedEngine } from './engine.ts'
import { RESTRICTIONS } from './restrictions.ts'

const server = process.env['TEST_DATABASE_URL']
if (!server) throw new Error('Set TEST_DATABASE_URL to a PostgreSQL server.')

const allowed = (process.env['TEST_ENGINE_ALLOWS'] ?? '').split(';').map((name) => name.trim())
const unknown = allowed.filter((name) => name !== '' && RESTRICTIONS.every((row) => row.name !== name))
if (unknown.length > 0) throw new Error(`TEST_ENGINE_ALLOWS: no restriction is called ${unknown.join(', ')}`)

const rate = Number(process.env['TEST_ENGINE_ABORTS'] ?? 0)
const seed = Number(process.env['TEST_ENGINE_SEED'] ?? process.pid)
const engine = await createRestrictedEngine({ teardown: () => {} }, server, {
  restrictions: RESTRICTIONS.filter(({ name }) => !allowed.includes(name)),
  faults: { seed, aborts: rate, refusedCommits: rate },
  // The statement that sets up the service's sessions (src/database/session.ts). Tests do not repeat their own statements.
  faultsSince: /\bset_config\(.*;COMMIT$/s,
})

process.env['TEST_DATABASE_URL'] = engine.address
// Templates that other runs have made on the server came into being without the restrictions.
process.env['TEST_ENGINE'] = 'restricted'

process.on('exit', () => {
  for (const statement of engine.refused)
    console.error(`Refused: ${statement.replace(/\s+/g, ' ').slice(0, 300)}`)
  if (engine.faults.size > 0)
    console.error(`Faults (TEST_ENGINE_SEED=${seed}):`, Object.fromEntries(engine.faults))
})
