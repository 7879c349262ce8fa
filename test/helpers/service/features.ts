import type { ServiceParts } from '../../../src/service/application.ts'

type Served = Pick<ServiceParts, 'features' | 'limit'>

let served: Served = {}

/** The features and limits of the services that tests start. */
export function servedFeatures(): Served {
  return served
}

/** Makes later services of this process keep the specification alone, beside batches. */
export function serveNoFeatures(): void {
  served = { features: [], limit: () => ({}) }
}
