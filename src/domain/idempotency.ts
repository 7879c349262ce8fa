import { createHash } from 'node:crypto'
import type { Client } from '../database/client.ts'
import type { Prisma } from '../database/generated/client.ts'
import { refuseInvalid, refuseRuleViolation } from './model/errors.ts'
import type { Resource, Values } from './model/resource.ts'
import type { Row } from './model/row.ts'
import { toColumns } from './model/rows.ts'
import { isObject } from './model/values.ts'
import { WriteConflict } from './retry.ts'

/** What a caller names a request with, so that it can be repeated: unique among that caller's requests. */
export interface RequestKey {
  /** The identity of the caller. */
  readonly identity: string
  readonly text: string
}

/** A creation that must happen once, however often it is asked for. */
interface Creation {
  readonly client: Client
  readonly resource: Resource
  readonly parentId: string | undefined
  readonly key: RequestKey
  /** What is to be created, valid. */
  readonly values: Values
  /** How long the key is remembered. */
  readonly hours: number
}

const KEY = /^[\x21-\x7e]{1,255}$/
const HOUR_MILLISECONDS = 3_600_000

/**
 * Remembers the first answer to a request in the transaction that does what it asks for, so that neither
 * is ever there without the other (draft-ietf-httpapi-idempotency-key-header). A request that failed is
 * not remembered: nothing happened.
 */
export class IdempotencyRecord {
  readonly #creation: Creation
  readonly #address: { subject: string; collection: string; parent_id: string; key: string }
  readonly #hash: string

  /** @throws {DomainError} VALIDATION_FAILED (400) for a key that cannot be one */
  constructor(creation: Creation) {
    const { resource, parentId = '', key, values } = creation
    refuseMalformedKey(key.text)
    this.#creation = creation
    this.#address = { subject: key.identity, collection: resource.path, parent_id: parentId, key: key.text }
    this.#hash = createHash('sha256')
      .update(canonical(toColumns(resource, values)))
      .digest('base64')
  }

  /**
   * The resource as it was created when the request was first made; undefined when it never was.
   *
   * @throws {DomainError} BUSINESS_RULE_VIOLATION (422) when the key came with another body then
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
   * Takes the key, before anything is done under it. Waits while another request holds it.
   *
   * @throws {WriteConflict} when another request has taken it
   */
  async claim(client: Client): Promise<void> {
    const data = { ...this.#address, request_hash: this.#hash }
    const { count } = await client.idempotencyKey.createMany({ data, skipDuplicates: true })
    if (count === 0) throw new WriteConflict()
  }

  /** Keeps the answer, in the transaction that claimed the key. */
  async store(client: Client, row: Row): Promise<void> {
    const where = { subject_collection_parent_id_key: this.#address }
    await client.idempotencyKey.update({ where, data: { answer: row as Prisma.InputJsonObject } })
  }
}

/** Few enough for one statement to end long before its timeout. */
const BATCH_SIZE = 1_000
const FIRST_DELAY_MILLISECONDS = 10_000

/**
 * Deletes the keys that are older than that many hours, soon after the start and then every hour, until it is
 * told to stop.
 *
 * @param within in milliseconds: the first time is at random within these, so that processes which start
 *   together take turns
 */
export function startKeyExpiry(client: Client, hours: number, within = FIRST_DELAY_MILLISECONDS): () => void {
  const stopping = new AbortController()
  // If the database is in trouble now, the next hour will do.
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
  const message = 'This idempotency key came with another body before; every new request needs a new key.'
  refuseRuleViolation([{ field: 'idempotency_key', code: 'IDEMPOTENCY_KEY_REUSED', message }])
}

/** The same text for the same values, in whatever order an object in them has its members. */
function canonical(values: unknown): string {
  return JSON.stringify(values, (_, value: unknown) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
  )
}

/** JSON has no timestamps; the columns that hold one are known. */
function toRow({ leaves }: Resource, answer: Record<string, unknown>): Row {
  const timestamps = leaves
    .filter(({ field, column }) => field.type === 'timestamp' && typeof answer[column] === 'string')
    .map(({ column }) => [column, new Date(answer[column] as string)])
  return { ...answer, ...Object.fromEntries(timestamps) } as Row
}
