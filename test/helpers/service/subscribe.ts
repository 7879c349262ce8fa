import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from 'graphql-sse'
import type { Json } from './client.ts'

export interface Subscribed {
  /** What has come so far. */
  readonly results: readonly Json[]
  /** Resolves to the error of the connection; undefined when the service has completed the operation. */
  readonly ended: Promise<unknown>
  /** Waits for so many results in total. */
  until(count: number): Promise<readonly Json[]>
  leave(): void
}

/** Runs an operation with the client of the package graphql-sse. Resolves when the response begins, or is refused. */
export async function subscribe(
  origin: string,
  authorization: string | undefined,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
): Promise<Subscribed> {
  const client = createClient({
    url: `${origin}/graphql`,
    headers: authorization === undefined ? {} : { authorization },
    retryAttempts: 0,
  })
  const results: Json[] = []
  let leave = () => {}
  let hasEnded = false
  let ended: Promise<unknown> | undefined
  await new Promise<void>((begin) => {
    ended = new Promise<unknown>((resolve) => {
      const end = (error?: unknown) => {
        hasEnded = true
        begin()
        resolve(error)
      }
      const sink = { next: (result: Json) => void results.push(result), error: end, complete: () => end() }
      leave = client.subscribe({ query, variables: { ...variables } }, sink, { connected: () => begin() })
    })
  })
  return {
    results,
    ended: ended as unknown as Promise<unknown>,
    async until(count) {
      while (results.length < count && !hasEnded) await delay(5)
      return results
    },
    leave,
  }
}
