import type { GraphQLRequestContextDidResolveOperation } from '@apollo/server'
import type { DocumentNode, ValidationRule } from 'graphql'
import type { GraphContext } from '../execution/context.ts'

export type ResolvedRequest = GraphQLRequestContextDidResolveOperation<GraphContext>

/** Decides which documents of /graphql are executed, and when. Each function returns what to call at the end of the work. */
export interface DocumentGuard {
  readonly rules: readonly ValidationRule[]
  /** @throws {DomainError} VALIDATION_FAILED (400) for a document whose fragments expand to too many fields */
  refuseLarge(document: DocumentNode): void
  /** Waits until a document may be parsed and validated. */
  beginParsing(request: { readonly source: string; readonly contextValue: GraphContext }): Promise<() => void>
  /**
   * Waits until an operation may be executed.
   *
   * @throws {GraphQLError} for an operation that may cost too much
   */
  beginOperation(request: ResolvedRequest): Promise<() => void>
}
