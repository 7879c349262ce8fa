import { createHash } from 'node:crypto'
import type { Client, InputJsonObject } from '../database/client.ts'
import { refuseInvalid, refuseRuleViolation } from './model/errors.ts'
import type { Resource, Values } from './model/resource.ts'
import type { Row } from './model/row.ts'
import { toColumns } from './model/rows.ts'
import { isObject } from './model/values.ts'
import { WriteConflict } from './retry.ts'

/** An idempotency key, which is unique among the requests of a caller. */
export interface RequestKey {
  /** The identity of the caller. */
  readonly identity: string
  readonly text: string
}

/** A request to create a resource only once. */
interface Creation {
  readonly client: Client
  readonly resource: Resource
  readonly parentId: string | undefined
  readonly key: RequestKey
  /** The validated values of the new resource. */
  readonly values: Values
  /** The version of the API that the request is in, for a resource that differs between versions. */
  readonly apiVersion?: string | undefined
  /** How long the key is stored. */
  readonly hours: number
}

const KEY = /^[\x21-\x7e]{1,255}$/
const HOUR_MILLISECONDS = 3_600_000

/**
 * Stores the first response to a request, in the transaction of its write
 * (draft-ietf-httpapi-idempotency-key-header). Failed requests store nothing.
 */
export class IdempotencyRecord {
  readonly #creation: Creation
  readonly #address: { subject: string; collection: string; parent_id: string; key: string }
  readonly #hash: string

  /** @throws {DomainError} VALIDATION_FAILED (400) for a malformed key */
  constructor(creation: Creation) {
    const { resource, parentId = '', key, values, apiVersion = '' } = creation
    refuseMalformedKey(key.text)
    this.#creation = creation
    this.#address = { subject: key.identity, collection: resource.path, parent_id: parentId, key: key.text }
    this.#hash = createHash('sha256')
      .update(canonical(toColumns(resource, values)) + apiVersion)
      .digest('base64')
  }

  /**
   * The resource as the first request created it; undefined if this is the first.
   *
   * @throws {DomainError} BUSINESS_RULE_VIOLATION (422) if the first request had another body
   */
  async find(): Promise<Row | undefined> {
    const { client, resource, hours } = this.#creation
    const where = this.#address
    const known = await client.idempotencyKey.findUnique({
      where: { subject_collection_parent_id_key: where },
    })
    if (!known) return undefined
    if (known.created_date.getTime() < Date.now() - hours * HOUR_MILLISECONDS) {
      await client.idempotencyKey.deleteMany({ where: { ...where, created_date: known.created_date } })
      return undefined
    }
    if (known.request_hash !== this.#hash) refuseReusedKey()
    return toRow(resource, known.answer as Record<string, unknown>)
  }

  /**
   * Claims the key, before any other statement of the transaction. Waits while another request holds it.
   *
   * @throws {WriteConflict} if another request has claimed it
   */
  async claim(client: Client): Promise<void> {
    const data = { ...this.#address, request_hash: this.#hash }
    const { count } = await client.idempotencyKey.createMany({ data, skipDuplicates: true })
    if (count === 0) throw new WriteConflict()
  }

  /** Stores the response, in the transaction that claimed the key. */
  async store(client: Client, row: Row): Promise<void> {
    const where = { subject_collection_parent_id_key: this.#address }
    await client.idempotencyKey.update({ where, data: { answer: row as InputJsonObject } })
  }
}

/** A statement that deletes this many keys ends long before its timeout. */
const BATCH_SIZE = 1_000
const FIRST_DELAY_MILLISECONDS = 10_000

/**
 * Deletes keys older than this many hours, soon after the start and then every hour. Returns a function that
 * stops it.
 *
 * @param within maximum delay of the first run in milliseconds. It is random, so that processes that start
 *   together do not run at the same time.
 */
export function startKeyExpiry(client: Client, hours: number, within = FIRST_DELAY_MILLISECONDS): () => void {
  const stopping = new AbortController()
  // After a failure, the next run deletes these keys.
  const run = () => void deleteExpiredKeys(client, hours, stopping.signal).catch(() => {})
  const timers = [setTimeout(run, Math.random() * within), setInterval(run, HOUR_MILLISECONDS)]
  for (const timer of timers) timer.unref()
  return () => {
    stopping.abort()
    for (const timer of timers) clearTimeout(timer)
  }
}

async function deleteExpiredKeys(client: Client, hours: number, signal: AbortSignal): Promise<void> {
  const where = { created_date: { lt: new Date(Date.now() - hours * HOUR_MILLISECONDS) } }
  for (let count = BATCH_SIZE; count === BATCH_SIZE && !signal.aborted; ) {
    count = (await client.idempotencyKey.deleteMany({ where, limit: BATCH_SIZE })).count
  }
}

function refuseMalformedKey(text: string): void {
  if (KEY.test(text)) return
  const message = 'An idempotency key is 1 to 255 visible ASCII characters.'
  refuseInvalid([{ field: 'idempotency_key', code: 'INVALID_FORMAT', message }])
}

function refuseReusedKey(): void {
  const message = 'This idempotency key was used with another body. Use a new key for each new request.'
  refuseRuleViolation([{ field: 'idempotency_key', code: 'IDEMPOTENCY_KEY_REUSED', message }])
}

/** Serializes values independently of the order of object members. */
function canonical(values: unknown): string {
  return JSON.stringify(values, (_, value: unknown) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
  )
}

/** Restores the timestamps, which JSON stores as strings. */
function toRow({ leaves }: Resource, answer: Record<string, unknown>): Row {
  const timestamps = leaves
    .filter(({ field, column }) => field.type === 'timestamp' && typeof answer[column] === 'string')
    .map(({ column }) => [column, new Date(answer[column] as string)])
  return { ...answer, ...Object.fromEntries(timestamps) } as Row
}
