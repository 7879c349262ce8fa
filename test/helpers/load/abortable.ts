import type { Abortable } from '../../../src/features/load/fair-queue.ts'

/** Work that a test aborts. */
export function abortable(): Abortable & { abort(reason: unknown): void } {
  const listeners = new Set<(reason: unknown) => void>()
  return {
    onAbort(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    abort: (reason) => listeners.forEach((listener) => void listener(reason)),
  }
}
