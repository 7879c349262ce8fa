import type { ServiceOperation } from './operation.ts'
import { batch } from './operations/batch.ts'
import { entry } from './operations/entry.ts'
import { type CollectionOperation, RESOURCE_OPERATIONS } from './resource-operations.ts'

/** What clients can request: of each collection, and of the service itself. */
export interface Operations {
  readonly resource: readonly CollectionOperation[]
  readonly service: readonly ServiceOperation[]
}

/** The operations of the specification, batches, and what features add. */
export function allOperations(
  features: readonly { readonly operations?: Partial<Operations> }[],
): Operations {
  const added = features.flatMap(({ operations }) => operations ?? [])
  return {
    resource: [...RESOURCE_OPERATIONS, ...added.flatMap(({ resource = [] }) => resource)],
    service: [entry, batch, ...added.flatMap(({ service = [] }) => service)],
  }
}
