import type { ServiceParts } from '../../../src/service/application.ts'
import { FEATURES } from '../../../src/service/features.ts'

type Served = Required<Pick<ServiceParts, 'features'>> & Pick<ServiceParts, 'limit'>

let served: Served = { features: FEATURES }

/** The features and limits of the services that tests start. */
export function servedFeatures(): Served {
  return served
}

/** Makes later services of this process keep the specification alone, beside batches. */
export function serveNoFeatures(): void {
  served = { features: [], limit: () => ({}) }
}
