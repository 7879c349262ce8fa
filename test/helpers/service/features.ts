import type { CreateFeature } from '../../../src/features/feature.ts'
import { FEATURES } from '../../../src/service/features.ts'

let served: readonly CreateFeature[] = FEATURES

/** The features of the services that tests start. */
export function servedFeatures(): readonly CreateFeature[] {
  return served
}

/** Makes later services of this process keep the specification alone. */
export function serveNoFeatures(): void {
  served = []
}

/** Whether they include batches: a suite may run the tests of every resource on the core alone. */
export function hasBatches(): boolean {
  return served.length > 0
}
