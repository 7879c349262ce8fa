import type { ApolloServerPlugin } from '@apollo/server'
import { Limiter } from '../../http/limiter.ts'
import type { GraphContext } from '../execution/context.ts'
import { introspects } from './limits.ts'

/** After an introspection, the next waits this many times its duration, but at most a second. */
const REST = 9
const LONGEST_REST_MILLISECONDS = 1_000

/**
 * Runs one introspection at a time, callers in turn, and for at most a tenth of the time. Each blocks the event loop for
 * 50 ms; tools need it once.
 */
export function introspectionTurns(): ApolloServerPlugin<GraphContext> {
  const limiter = new Limiter({ capacity: 1, share: 1 })
  return {
    requestDidStart: async () => {
      let finish = () => {}
      return {
        didResolveOperation: async ({ document, contextValue: { caller, slot } }) => {
          if (!introspects(document)) return
          const release = await limiter.acquire(caller.identity, 1, slot)
          const started = performance.now()
          finish = () => {
            const rest = Math.min(REST * (performance.now() - started), LONGEST_REST_MILLISECONDS)
            setTimeout(release, rest).unref()
          }
        },
        willSendResponse: async () => finish(),
      }
    },
  }
}
