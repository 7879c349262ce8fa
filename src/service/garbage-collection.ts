import { setFlagsFromString } from 'node:v8'

/**
 * Tunes V8's garbage collector for a service: 165 MB resident at the end of the benchmark instead of 240, with the same
 * processor time or less (a tenth less for a first page).
 *
 * - The arrays in which pg collects rows often survive a collection of the young generation, so V8 begins to allocate
 *   them in the old one. There they keep the rows of each statement (26 KB for a page of 20) until the next full
 *   collection. Without pretenuring, rows are collected while they are young.
 * - A full collection starts when the old generation has doubled; V8's default is a factor of up to four.
 */
export function setGarbageCollector(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
  setFlagsFromString('--heap-growing-percent=100')
}
