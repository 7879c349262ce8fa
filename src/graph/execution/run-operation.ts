import { trace } from '@opentelemetry/api'
import type { DocumentNode, OperationDefinitionNode } from 'graphql'
import { type Slot, UNLIMITED } from '../../domain/session/slot.ts'
import type { Caller } from '../../model/access/caller.ts'
import type { Values } from '../../model/definition/resource.ts'
import { inSpan, requestTimings } from '../../observability/observation.ts'

export type OperationType = 'query' | 'mutation'

/** A document with one operation. */
export interface OperationDocument {
  readonly type: OperationType
  readonly document: () => DocumentNode
  /** The variable that the largest possible response depends on. By default, it depends on none. */
  readonly sizedBy?: string | undefined
}

/** The work of a caller that runs as one GraphQL operation. */
export interface Operation {
  readonly type: OperationType
  /** Undefined until the document is parsed. */
  readonly name?: string
  /** The prepared operations that it consists of, with their variables. */
  readonly parts?: readonly (readonly [OperationDocument, Values])[]
}

/** Runs the work of an operation when it may start. */
export type AroundOperation = <Result>(
  operation: Operation,
  caller: Caller,
  work: (slot: Slot) => Promise<Result>,
) => Promise<Result>

/** Makes the function that runs the work of a caller as one GraphQL operation, from REST or /graphql: in a span, and timed. */
export function createRunOperation(around?: AroundOperation): AroundOperation {
  return async (operation, caller, work) => {
    const { type, name } = operation
    const title = name === undefined ? 'GraphQL request' : `GraphQL ${type} ${name}`
    const attributes = name === undefined ? {} : { 'graphql.operation.type': type }
    const timings = requestTimings.getStore()
    const started = performance.now()
    try {
      return await inSpan(title, attributes, () => around?.(operation, caller, work) ?? work(UNLIMITED))
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
