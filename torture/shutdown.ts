import { setTimeout as delay } from 'node:timers/promises'
import { createEmbedded } from '../test/helpers/database/database.ts'
import { type Outcome, runLoad } from '../test/helpers/load/load.ts'
import { startProcess } from '../test/helpers/service/service-process.ts'
import { withOwner } from './owner.ts'

const EXIT_MILLISECONDS = 10_000

/** Tells the service to stop under load: what was accepted is answered, and it ends with 0 in ten seconds. */
export async function run(times = 20): Promise<string[]> {
  const broken: string[] = []
  let slowest = 0
  let answered = 0
  for (let time = 1; time <= times; time++) {
    await withOwner(async (owner) => {
      const { dataDir } = await createEmbedded(owner)
      const service = startProcess({ DATA_DIR: dataDir, DATABASE_TIMEOUT: '60000' }, owner)
      const origin = await service.origin
      const outcomes: Outcome[] = []
      const body = (number: number) => ({ scientific_name: `s${number}` })
      const load = runLoad(
        origin,
        16,
        (number) => ({ method: 'POST', path: '/api/v1/species', body: body(number) }),
        (_, outcome) => outcomes.push(outcome),
      )
      await delay(500 + Math.random() * 1_500)
      const started = performance.now()
      service.kill('SIGTERM')
      const { code } = await service.exited
      slowest = Math.max(slowest, performance.now() - started)
      await load
      answered += outcomes.filter(({ kind }) => kind === 'answered').length
      const lost = outcomes.filter(({ kind }) => kind === 'lost')
      const failed = outcomes.filter((outcome) => outcome.kind === 'answered' && outcome.status !== 201)
      if (code !== 0) broken.push(`time ${time}: exit status ${code}`)
      if (lost.length > 0)
        broken.push(`time ${time}: ${lost.length} without an answer: ${JSON.stringify(lost[0])}`)
      if (failed.length > 0)
        broken.push(`time ${time}: ${failed.length} failed: ${JSON.stringify(failed[0])}`)
    })
  }
  console.log(`${times} stops, ${answered} requests answered, slowest exit ${Math.round(slowest)} ms`)
  if (slowest > EXIT_MILLISECONDS) broken.push(`one took ${Math.round(slowest)} ms`)
  return broken
}
