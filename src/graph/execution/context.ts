import type { Session } from '../../domain/session/session.ts'
import type { Slot } from '../../domain/session/slot.ts'

/** What a subscription needs after the operation that began it. */
export interface Subscriber {
  /** The changes that it keeps in memory at most. */
  readonly pageSize: number
  /** Aborted at the end of the stream. */
  readonly signal: AbortSignal
  /** Reads a page of changes, in a slot of its own. */
  read<Page>(page: (slot: Slot) => Promise<Page>): Promise<Page>
}

/** Apollo copies it. */
export interface GraphContext {
  readonly session: Session
  /** Set if the response can be a stream of events. */
  readonly subscriber?: Subscriber | undefined
}
