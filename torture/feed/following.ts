import { setTimeout as delay } from 'node:timers/promises'
import { send } from '../../test/helpers/load/load.ts'
import { CONSUMERS, type Consumer, type NextOrigin } from './consumers.ts'

const CATCH_UP_MILLISECONDS = 60_000

/** Starts one consumer of each kind. Each follows the feed from its end of now. */
export async function startConsumers(origin: NextOrigin) {
  const begin = await endOf(origin)
  const leaving = new AbortController()
  const following = Object.entries(CONSUMERS).map(([name, follow]) => {
    const consumer: Consumer = { name, position: begin, seen: [], connections: 0 }
    return { consumer, done: follow(consumer, origin, leaving.signal) }
  })
  // A failure is reported at the end.
  const results = Promise.allSettled(following.map(({ done }) => done))
  const all = following.map(({ consumer }) => consumer)
  return {
    all,
    /** Ends all when each is at the end of the feed. */
    async catchUp(origin: NextOrigin): Promise<string[]> {
      const end = await endOf(origin)
      const until = performance.now() + CATCH_UP_MILLISECONDS
      while (all.some(({ position }) => position !== end) && performance.now() < until) await delay(50)
      leaving.abort()
      const failures = (await results).flatMap((result) =>
        result.status === 'rejected' ? [String(result.reason)] : [],
      )
      const late = all.filter(({ position }) => position !== end)
      return [...failures, ...late.map(({ name }) => `${name}: not at the end after a minute`)]
    },
  }
}

async function endOf(origin: NextOrigin): Promise<string> {
  const outcome = await send(origin(), { method: 'GET', path: '/api/v1/changes?since=now' })
  if (outcome.kind !== 'answered' || outcome.status !== 200) throw new Error(JSON.stringify(outcome))
  return new URL(JSON.parse(outcome.body)._links.next.href).searchParams.get('since') as string
}
