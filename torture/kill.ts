import { createEmbedded } from '../test/helpers/database/database.ts'
import { createDatabaseOn, findServer } from '../test/helpers/database/postgres-server.ts'
import { killRepeatedly } from '../test/helpers/load/kill.ts'
import { startProcess } from '../test/helpers/service/service-process.ts'
import { withOwner } from './owner.ts'

const WRITES_PER_ROUND = 420
const READY_MILLISECONDS = 5_000

/** Kills the service under write load: every acknowledged write is there again, within five seconds. */
export async function run(rounds = 50, only?: string): Promise<string[]> {
  const server = findServer((reason) => console.log(`PostgreSQL: ${reason}`))
  const broken: string[] = []
  const kinds = ['embedded', 'fsync', ...(server ? ['postgresql'] : [])]
  for (const kind of kinds.filter((one) => only === undefined || one === only)) {
    await withOwner(async (owner) => {
      const environment =
        kind === 'postgresql'
          ? { DATABASE_URL: await createDatabaseOn(server as string, owner) }
          : { DATA_DIR: (await createEmbedded(owner)).dataDir, EMBEDDED_FSYNC: String(kind === 'fsync') }
      const start = () =>
        startProcess({ LOG_LEVEL: 'info', DATABASE_TIMEOUT: '60000', ...environment }, owner)
      const { problems, writes, slowest } = await killRepeatedly(start, rounds, WRITES_PER_ROUND, console.log)
      console.log(
        `${kind}: ${rounds} kills, ${writes} writes acknowledged, slowest start ${Math.round(slowest)} ms`,
      )
      broken.push(...problems.map((problem) => `${kind}: ${problem}`))
      if (slowest > READY_MILLISECONDS) broken.push(`${kind}: ready only after ${Math.round(slowest)} ms`)
    })
  }
  return broken
}
