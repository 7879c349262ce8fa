import { batch } from './batch.ts'
import { changes } from './changes/feed.ts'
import type { ServiceOperation } from './operation.ts'
import { entry } from './operations/entry.ts'

export const SERVICE_OPERATIONS: readonly ServiceOperation[] = [entry, batch, changes]
