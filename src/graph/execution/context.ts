import type { ExecutionArgs, ExecutionResult } from 'graphql'
import type { Session } from '../../domain/session/session.ts'

/** Apollo copies it. */
export interface GraphContext {
  readonly session: Session
  /** Set if the response can be a stream of events. */
  readonly stream?: EventStream | undefined
}

export interface EventStream {
  /** Aborted at the end of the stream. */
  readonly signal: AbortSignal
  /** Returns the errors of a subscription that cannot begin. */
  subscribe(args: ExecutionArgs): Promise<ExecutionResult>
}
