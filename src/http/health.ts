import { setTimeout as delay } from 'node:timers/promises'
import { DomainError } from '../model/errors.ts'
import type { Context } from './context.ts'
import { type Route, reads } from './routes.ts'

const CHECK_MILLISECONDS = 1_000

/**
 * /health/live: the process responds. /health/ready: the database responds in time and the process is not stopping;
 * otherwise 503. Neither counts as load. Concurrent requests share one check. Below a namespace, the database is its own.
 */
export function healthRoutes(
  check: (namespace: string) => Promise<void>,
  state: { readonly isStopping: boolean },
): Route[] {
  const checking = new Map<string, Promise<boolean>>()
  const checkInTime = (namespace: string) => {
    const succeeds = check(namespace).then(() => true)
    return Promise.race([succeeds, delay(CHECK_MILLISECONDS, false, { ref: false })]).catch(() => false)
  }
  const isReady = async ({ state: { namespace = '' } }: Context) => {
    const ready = checking.get(namespace) ?? checkInTime(namespace).finally(() => checking.delete(namespace))
    checking.set(namespace, ready)
    return (await ready) && !state.isStopping
  }
  return [probe('live', async () => true), probe('ready', isReady)]
}

function probe(status: string, isTrue: (ctx: Context) => Promise<boolean>): Route {
  return {
    path: `/health/${status}`,
    access: 'probe',
    methods: reads({
      async handle(ctx) {
        if (!(await isTrue(ctx))) throw new DomainError('SERVICE_UNAVAILABLE', 'The service is not ready.')
        // With an object as body, Koa checks `instanceof Response`, which makes Node load `fetch`.
        ctx.type = 'json'
        ctx.body = JSON.stringify({ status })
      },
    }),
  }
}
