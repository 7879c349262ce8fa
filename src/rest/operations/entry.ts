import type { ServiceOperation } from './operation.ts'

export const entry: ServiceOperation = {
  method: 'GET',
  path: '',
  id: 'readEntry',
  summary: 'The entry document',
  description: 'Links to every collection. Requires a token, with any scope.',
  responses: { 200: { description: 'The collections.', body: 'Entry' } },
}
