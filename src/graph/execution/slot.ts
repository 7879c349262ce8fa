import type { DocumentNode } from 'graphql'
import type { Caller } from '../../model/access/caller.ts'
import type { Values } from '../../model/definition/resource.ts'
import type { Scan } from '../../model/query/list.ts'

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

export interface Abortable {
  /** Returns a function that removes the listener. */
  onAbort(listener: (reason: unknown) => void): () => void
}

/** The place of an operation while it runs. */
export interface Slot {
  /** @throws {DomainError} SERVICE_UNAVAILABLE (503) after the deadline of the operation */
  throwIfLate(): void
  /** Sends a statement that reads a list when it may start. */
  read<Result>(scans: readonly Scan[], work: () => Promise<Result>): Promise<Result>
  /** Sends statements that write when they may start. */
  write<Result>(work: () => Promise<Result>): Promise<Result>
}

/** Runs the work of an operation when it may start. */
export type AroundOperation = <Result>(
  operation: Operation,
  caller: Caller,
  work: (slot: Slot) => Promise<Result>,
) => Promise<Result>

const UNLIMITED: Slot = {
  throwIfLate() {},
  read: (_, work) => work(),
  write: (work) => work(),
}

export const withoutLimits: AroundOperation = (_operation, _caller, work) => work(UNLIMITED)
