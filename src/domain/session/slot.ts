import type { Scan } from '../../model/query/list.ts'

/** The place of an operation while it runs. */
export interface Slot {
  /** @throws {DomainError} SERVICE_UNAVAILABLE (503) after the deadline of the operation */
  throwIfLate(): void
  /** Waits until the operation may use so many units in all. */
  need(units: number): Promise<void>
  /** Sends a statement that reads a list when it may start. */
  read<Result>(scans: readonly Scan[], work: () => Promise<Result>): Promise<Result>
  /** Sends statements that write when they may start. */
  write<Result>(work: () => Promise<Result>): Promise<Result>
}

export const UNLIMITED: Slot = {
  throwIfLate() {},
  need: async () => {},
  read: (_, work) => work(),
  write: (work) => work(),
}
