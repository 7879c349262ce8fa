import {
  type Change,
  type ChangeOf,
  DomainError,
  type RuleClient,
  refuseRuleViolation,
} from 'halgraph/domain'
import type { fields } from './loans.ts'

/*
 * Rules of lending: a book has no more open loans than copies. Both lock the book first, so that loans and copies of
 * one book change one after the other.
 */

/** The codes of their details. */
export const lendingCodes = {
  NO_FREE_COPY: {
    cause: 'All copies of the book are lent, or there is none.',
    remedy: 'Wait until a copy is returned.',
  },
}

/**
 * Requires of a loan that becomes open that the book has a copy which is not lent.
 *
 * @throws {DomainError} BUSINESS_RULE_VIOLATION (422) with NO_FREE_COPY
 */
export async function hasFreeCopy({ client, before, after }: ChangeOf<typeof fields>): Promise<void> {
  if (after?.status !== 'open') return
  if (before?.status === 'open' && before.book_id === after.book_id) return
  const free = await freeCopies(client, after.book_id)
  if (free > 0) return
  const message = 'The book has no copy that is not lent.'
  refuseRuleViolation([{ field: 'status', code: 'NO_FREE_COPY', message }])
}

/**
 * Refuses to delete a copy while all copies of its book are lent.
 *
 * @throws {DomainError} DEPENDENCY_CONFLICT (409)
 */
export async function isNotLent({ client, key, before, after }: Change): Promise<void> {
  if (after || !before || (await freeCopies(client, key.parentId as string)) > 0) return
  const message = 'All copies of the book are lent.'
  throw new DomainError('DEPENDENCY_CONFLICT', message, [{ field: 'id', code: 'RESOURCE_IN_USE', message }])
}

const FREE_COPIES = `SELECT (SELECT count(*) FROM copies WHERE book_id = $1)::integer
  - (SELECT count(*) FROM loans WHERE book_id = $1 AND status = 'open')::integer AS free`

async function freeCopies(client: RuleClient, bookId: string): Promise<number> {
  await client.$rows({ text: 'SELECT 1 AS locked FROM books WHERE id = $1 FOR UPDATE', values: [bookId] })
  const [row] = await client.$rows<{ free: number }>({ text: FREE_COPIES, values: [bookId] })
  return row?.free ?? 0
}
