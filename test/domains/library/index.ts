import type { Domain } from 'halgraph/domain'
import { authors } from './authors.ts'
import { books } from './books.ts'
import { copies } from './copies.ts'
import { cover } from './cover.ts'
import { loans } from './loans.ts'

export const domain: Domain = {
  title: 'Municipal library',
  description: 'Books, their copies, and who has borrowed them.',
  resources: [authors, books, copies, cover, loans],
}
