import type { Attributes } from '@opentelemetry/api'
import { type GraphQLSchema, type OperationDefinitionNode, parse } from 'graphql'
import type { Caller } from '../../domain/model/caller.ts'
import { currentTimings, describeSpan, inSpan } from '../../observability/observation.ts'
import { type CostEstimator, RESPONSE_BYTES_PER_UNIT } from './cost.ts'
import type { Data, Prepare } from './operation.ts'
import type { OperationLimiter, Slot } from './operation-limiter.ts'

/** Runs the work of a caller as one GraphQL operation: in a slot of the limiter, in a span, and timed. */
export type RunOperation = <Result>(
  name: string,
  caller: Caller,
  work: (slot: Slot) => Promise<Result>,
) => Promise<Result>

/** Makes the function that runs every GraphQL operation, of REST and of GraphQL's own callers. */
export function createRunOperation(limiter: OperationLimiter): RunOperation {
  return (name, caller, work) =>
    inSpan(`GraphQL ${name}`, typeOf(name), async () => {
      const timings = currentTimings()
      const started = performance.now()
      try {
        return await limiter.run(caller.identity, work)
      } finally {
        if (timings) timings.graphql += performance.now() - started
      }
    })
}

function typeOf(name: string): Attributes {
  const [type = ''] = /^(?:query|mutation)\b/.exec(name) ?? []
  return type === '' ? {} : { 'graphql.operation.type': type }
}

/** A caller can send a name of any length. */
const NAME_CHARACTERS = 100

/** Names the span of a request by the operation that it asks for, which is known once the document is parsed. */
export function describeOperation({ operation: type, name }: OperationDefinitionNode): void {
  const known = name?.value.slice(0, NAME_CHARACTERS)
  describeSpan(known === undefined ? `GraphQL ${type}` : `GraphQL ${type} ${known}`, {
    'graphql.operation.type': type,
    ...(known === undefined ? {} : { 'graphql.operation.name': known }),
  })
}

/** Prepares operations that this function runs, and that wait for the memory that their response may need. */
export function instrument(
  prepare: Prepare,
  run: RunOperation,
  schema: GraphQLSchema,
  costs: CostEstimator,
): Prepare {
  return (document) => {
    const operation = prepare(document)
    const name = operationName(document)
    const bytesOf = responseSize(schema, document, costs)
    return (variables, caller) =>
      run(name, caller, async (slot) => {
        await slot.reserve(bytesOf(variables))
        return operation(variables, caller, slot)
      })
  }
}

/** The response size of an operation that REST runs depends on the variable `limit` only. */
function responseSize(schema: GraphQLSchema, source: string, costs: CostEstimator) {
  const document = parse(source)
  const known = new Map<unknown, number>()
  return (variables: Data): number => {
    const { limit } = variables
    const bytes =
      known.get(limit) ?? costs.response({ schema, document, variables }) * RESPONSE_BYTES_PER_UNIT
    known.set(limit, bytes)
    return bytes
  }
}

/** The name of an operation in traces: `mutation createSpecies`, `query species`. */
function operationName(document: string): string {
  const [, type = 'query', field = ''] =
    /^\s*(query|mutation)?[^{]*\{\s*(?:\w+:\s*)?(\w+)/.exec(document) ?? []
  return `${type} ${field}`
}
