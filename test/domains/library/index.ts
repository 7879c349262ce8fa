import type { Domain } from 'halgraph/domain'
import { authors } from './authors.ts'
import { books } from './books.ts'
import { copies } from './copies.ts'
import { cover } from './cover.ts'
import { loans } from './loans.ts'

/** A library: its books, their copies, and who has borrowed them. */
export const domain: Domain = {
  resources: [authors, books, copies, cover, loans],
}
