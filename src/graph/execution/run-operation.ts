import { trace } from '@opentelemetry/api'
import type { OperationDefinitionNode } from 'graphql'
import { inSpan, requestTimings } from '../../observability/observation.ts'
import { type AroundOperation, withoutLimits } from './slot.ts'

/** Makes the function that runs the work of a caller as one GraphQL operation, from REST or /graphql: in a span, and timed. */
export function createRunOperation(around: AroundOperation = withoutLimits): AroundOperation {
  return async (operation, caller, work) => {
    const { type, name } = operation
    const title = name === undefined ? 'GraphQL request' : `GraphQL ${type} ${name}`
    const attributes = name === undefined ? {} : { 'graphql.operation.type': type }
    const timings = requestTimings.getStore()
    const started = performance.now()
    try {
      return await inSpan(title, attributes, () => around(operation, caller, work))
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
