import type pg from 'pg'
import type { Caller } from '../model/caller.ts'
import type { ResourceKey } from '../model/identifiers.ts'
import type { StatementClient } from './database-client.ts'

/** The author for the record of changes; undefined without a record. */
export function authorOf({ caller, changesDays }: { caller: Caller; changesDays: number }) {
  return changesDays > 0 ? caller.identity : undefined
}

/** Does not occur in the values of other statements, because PostgreSQL refuses it in texts. */
const SEPARATOR = '\0'

const SET_AUTHOR = `SELECT pg_catalog.set_config('halgraph.subject', $1, true) AS author`

/**
 * A key that names the author, for a write outside a transaction. Prisma passes only values to a statement, and an
 * asynchronous context would slow down all requests (8 % of GET one on Node 20). So the identifier carries the author,
 * and the connection pool removes it again.
 */
export function signedKey(key: ResourceKey, author: string | undefined): ResourceKey {
  return author === undefined ? key : { ...key, id: `${key.id}${SEPARATOR}${author}` }
}

/** Sets the author until the transaction ends. */
export async function setAuthor(client: StatementClient, author: string): Promise<void> {
  await client.$rows({ text: SET_AUTHOR, values: [author] })
}

/** The statements that can have a {@link signedKey}. */
export const WRITE = /^(?:INSERT|UPDATE|DELETE)/
const SIGNED = /^[A-Za-z0-9._~-]{1,64}\0/

/** Splits a statement with a {@link signedKey} into the one that sets its author, and itself without the author. */
export function withoutAuthor(config: pg.QueryConfig) {
  const { values = [] } = config
  const place = values.findIndex((value) => typeof value === 'string' && SIGNED.test(value))
  if (place === -1) return undefined
  const [id, ...author] = (values[place] as string).split(SEPARATOR)
  return {
    author: { text: SET_AUTHOR, values: [author.join(SEPARATOR)] },
    config: { ...config, values: values.with(place, id) },
  }
}
