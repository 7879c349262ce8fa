import { trace } from '@opentelemetry/api'
import type { OperationDefinitionNode } from 'graphql'
import type { Caller } from '../../model/caller.ts'
import { inSpan, requestTimings } from '../../observability/observation.ts'
import type { OperationLimiter, Slot } from './operation-limiter.ts'

export type OperationType = 'query' | 'mutation'

export type RunOperation = ReturnType<typeof createRunOperation>

/**
 * Makes the function that runs the work of a caller as one GraphQL operation, from REST or /graphql: in a slot of the
 * limiter, in a span, and timed. The name is given if it is known before the document is parsed.
 */
export function createRunOperation(limiter: OperationLimiter) {
  return async <Result>(
    { type, name }: { readonly type: OperationType; readonly name?: string },
    caller: Caller,
    work: (slot: Slot) => Promise<Result>,
  ): Promise<Result> => {
    const title = name === undefined ? 'GraphQL request' : `GraphQL ${type} ${name}`
    const attributes = name === undefined ? {} : { 'graphql.operation.type': type }
    const timings = requestTimings.getStore()
    const started = performance.now()
    try {
      const isWrite = type === 'mutation'
      return await inSpan(title, attributes, () => limiter.run(caller.identity, work, isWrite))
    } finally {
      if (timings) timings.graphql += performance.now() - started
    }
  }
}

/** Callers can choose names of any length. */
const NAME_CHARACTERS = 100

/** Names the span of a request after its operation, once the document is parsed. */
export function describeOperation({ operation: type, name }: OperationDefinitionNode): void {
  const known = name?.value.slice(0, NAME_CHARACTERS)
  const span = trace.getActiveSpan()?.setAttribute('graphql.operation.type', type)
  if (known !== undefined) span?.setAttribute('graphql.operation.name', known)
  span?.updateName(known === undefined ? `GraphQL ${type}` : `GraphQL ${type} ${known}`)
}
