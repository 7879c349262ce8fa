import { batch } from '../batch.ts'
import { changes } from '../changes/feed.ts'
import { entry } from './entry.ts'
import type { ServiceOperation } from './operation.ts'

export const SERVICE_OPERATIONS: readonly ServiceOperation[] = [entry, batch, changes]
