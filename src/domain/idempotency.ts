import { createHash } from 'node:crypto'
import type { StatementClient } from '../database/database-client.ts'
import { fixedInitial } from '../model/definition/fields.ts'
import type { Leaf, Resource, Values } from '../model/definition/resource.ts'
import { errorAt, refuseRuleViolation } from '../model/errors.ts'
import { rowOf, toColumns } from '../model/rows/columns.ts'
import type { Columns, Row } from '../model/rows/row.ts'
import { isObject } from '../model/values.ts'
import type { WriteContext } from './context.ts'
import { BATCH_SIZE, repeat } from './repeat.ts'
import { WriteConflict } from './transaction.ts'

const KEY = /^[\x21-\x7e]{1,255}$/
const HOUR_MILLISECONDS = 3_600_000

export type IdempotencyRecord = ReturnType<typeof idempotencyRecord>

/**
 * Stores the first response to a request, in the transaction of its write
 * (draft-ietf-httpapi-idempotency-key-header). Failed requests store nothing.
 *
 * @param key unique among the requests of a caller
 * @throws {DomainError} VALIDATION_FAILED (400) for a malformed key
 */
export function idempotencyRecord(
  { client, caller, idempotencyKeyHours }: WriteContext,
  resource: Resource,
  parentId: string | undefined,
  values: Values,
  { key, apiVersion = '' }: { readonly key: string; readonly apiVersion?: string | undefined },
) {
  if (!KEY.test(key)) {
    const message = 'An idempotency key must have 1 to 255 visible ASCII characters.'
    throw errorAt('idempotency_key', 'INVALID_FORMAT', 'VALIDATION_FAILED', message)
  }
  const address = [caller.identity, resource.path, parentId ?? '', key]
  const columns = toColumns(resource, values)
  const hashOf = (leaves: readonly Leaf[]) => {
    const content = Object.fromEntries(leaves.map(({ column }) => [column, columns[column]]))
    return createHash('sha256')
      .update(canonical(content) + apiVersion)
      .digest('base64')
  }
  // So that the same body is known when the resource has got fields meanwhile.
  const sent = resource.writable.filter(
    ({ column, field }) => columns[column] !== null && columns[column] !== fixedInitial(field),
  )
  const hash = hashOf(sent)
  return {
    /**
     * The resource as the first request created it; undefined if this is the first.
     *
     * @throws {DomainError} BUSINESS_RULE_VIOLATION (422) if the first request had another body
     */
    async find(): Promise<Row | undefined> {
      const statement = { text: FIND, values: [...address, expiry(idempotencyKeyHours)] }
      // The transaction that claimed the key has also stored the answer.
      const [known] = await client.$rows<{ request_hash: string; answer: Columns }>(statement)
      if (!known) return undefined
      // Earlier versions of the engine hashed all fields.
      if (known.request_hash !== hash && known.request_hash !== hashOf(resource.writable)) {
        const message = 'This idempotency key was used with another body. Use a new key for each new request.'
        refuseRuleViolation([{ field: 'idempotency_key', code: 'IDEMPOTENCY_KEY_REUSED', message }])
      }
      return { ...known.answer, ...rowOf(resource, known.answer) } as Row
    },
    /**
     * Claims the key, before any other statement of the transaction. Waits while another request holds it.
     *
     * @throws {WriteConflict} if another request has claimed it
     */
    async claim(client: StatementClient): Promise<void> {
      const values = [...address, hash, expiry(idempotencyKeyHours)]
      const claimed = await client.$rows({ text: CLAIM, values })
      if (claimed.length === 0) throw new WriteConflict()
    },
    /** Stores the response, in the transaction that claimed the key. */
    async store(client: StatementClient, row: Row): Promise<void> {
      await client.$rows({ text: STORE, values: [...address, JSON.stringify(row)] })
    },
  }
}

const ADDRESS = 'subject = $1 AND collection = $2 AND parent_id = $3 AND key = $4'

const FIND = `SELECT request_hash, answer FROM idempotency_keys
  WHERE ${ADDRESS} AND created_date >= $5::timestamptz`

/** An expired key that is not yet deleted is claimed again. */
const CLAIM = `INSERT INTO idempotency_keys AS known (subject, collection, parent_id, key, request_hash)
  VALUES ($1, $2, $3, $4, $5) ON CONFLICT (subject, collection, parent_id, key)
  DO UPDATE SET request_hash = excluded.request_hash, created_date = excluded.created_date
  WHERE known.created_date < $6::timestamptz RETURNING key`

const STORE = `UPDATE idempotency_keys SET answer = $5::jsonb WHERE ${ADDRESS}`

const DELETE_EXPIRED = `DELETE FROM idempotency_keys WHERE (subject, collection, parent_id, key) IN (
  SELECT subject, collection, parent_id, key FROM idempotency_keys WHERE created_date < $1::timestamptz LIMIT $2)
  RETURNING key`

/** Keys created before this time have expired. */
function expiry(hours: number): string {
  return new Date(Date.now() - hours * HOUR_MILLISECONDS).toISOString()
}

/** Deletes expired keys soon after the start and then every hour, until the result is called. */
export function startKeyExpiry(client: StatementClient, hours: number, within = 10_000): () => void {
  const deleteExpired = async (stopped: AbortSignal) => {
    const statement = { text: DELETE_EXPIRED, values: [expiry(hours), BATCH_SIZE], isDeferrable: true }
    while (!stopped.aborted && (await client.$rows(statement)).length === BATCH_SIZE);
  }
  return repeat(deleteExpired, HOUR_MILLISECONDS, within)
}

/** Serializes values independently of the order of object members. */
function canonical(values: unknown): string {
  return JSON.stringify(values, (_, value: unknown) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
  )
}
