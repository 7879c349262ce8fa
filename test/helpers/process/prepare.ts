// Loaded by each process of tests before their files. The path says which database they run on: suites of `embedded` and long
// tests use the embedded one, unless they ask for a server. What waits for something when it is loaded comes afterwards, since
// tests are declared at once.
import { appendFileSync } from 'node:fs'
import test from 'ava'
import { childrenSeconds } from '../../../scripts/processor-time.js'

const { file } = test.meta

export default async function prepare(): Promise<void> {
  const server = process.env['TEST_DATABASE_URL']
  if (server !== undefined && /\/suites\/embedded\/|\.(?:full|external)\.test\./.test(file)) {
    process.env['TEST_SERVER_URL'] = server
    delete process.env['TEST_DATABASE_URL']
  }
  if (file.includes('/suites/restricted/')) await import('../../restricted-engine/start.ts')
  await import('../domain/domain.ts')
}

const { TEST_USAGE: usage } = process.env
if (usage)
  process.on('exit', () => appendFileSync(usage, `${JSON.stringify({ file, ...processorTime() })}\n`))

/** Of this process, and of its children that have ended. */
function processorTime() {
  const { user, system } = process.cpuUsage()
  return { seconds: (user + system) / 1e6 + childrenSeconds(), wall: performance.now() / 1_000 }
}
