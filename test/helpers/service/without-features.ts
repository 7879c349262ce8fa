import { serveNoFeatures } from './features.ts'

// A suite that imports this first runs its tests on the core alone.
serveNoFeatures()
