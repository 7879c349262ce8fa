import type { DatabaseClient, StatementClient } from '../../database/database-client.ts'
import { referredOf } from '../../database/referred.ts'
import type { Access } from '../../model/access/access.ts'
import { type Action, authorize, type Caller } from '../../model/access/caller.ts'
import type { Resource, Values } from '../../model/definition/resource.ts'
import { refuseSent, viewFor } from '../../model/definition/views.ts'
import type { DomainError } from '../../model/errors.ts'
import { isResourceKey, type ResourceKey } from '../../model/rows/identifiers.ts'
import type { Row } from '../../model/rows/row.ts'
import type { Domain, SessionContext } from '../context.ts'
import { createRecorded, type RecordedOutcome, type RecordedRow } from '../create-recorded.ts'
import { type Creation, createAll, creationOf } from '../create-together.ts'
import { notFoundOrGone } from '../read.ts'
import { endsTransaction, inOneTransaction, TransactionEnded } from '../transaction.ts'
import { type Outcome, WRITES, type WriteKind, type WriteOptions } from '../write.ts'
import { executeInOrder, type TakeTurn } from '../write-order.ts'
import { Listing, type ListSource, Reader } from './reader.ts'
import { requestKey, shareRead } from './shared-reads.ts'
import { type Slot, UNLIMITED } from './slot.ts'

interface Write {
  readonly kind: WriteKind
  /** Without an identifier if it is generated. */
  readonly key: Partial<ResourceKey>
  readonly values: Values
  readonly options: WriteOptions
  /** What the caller gets of the resource after the write: nothing, its fields, or also what is read for it. */
  readonly shows?: () => 'nothing' | 'fields' | 'relations'
}

export interface TransactionMode {
  /** The first error ends the transaction and undoes it. */
  readonly isAtomic: boolean
  readonly isDryRun: boolean
}

/** The record of changes, which is read on the primary: replicas may lack changes, and cannot number them. */
export interface Recorded {
  readonly client: StatementClient
  readonly access: Access
  /** How long changes are recorded; 0 for no record. */
  readonly changesDays: number
  /** The error for a missing resource: 404 or 410. */
  missing(resource: Resource, key: ResourceKey): Promise<DomainError>
}

/** What one caller may do, during one operation. Nothing else reads or writes rows for a caller. */
export class Session {
  readonly caller: Caller
  readonly slot: Slot
  readonly maximumPageSize: number
  readonly recordsChanges: boolean
  readonly #context: SessionContext
  readonly #takeTurn: TakeTurn | undefined
  /** The database to read from. Writes go to that of the context. */
  #source: DatabaseClient
  #opened: Reader | undefined

  /** @param takeTurn set if the operation is one of several in a transaction */
  constructor(context: SessionContext, takeTurn?: TakeTurn) {
    const { caller, client, changesDays, maximumPageSize, readers, slot, transaction } = context
    this.caller = caller
    this.slot = slot
    this.maximumPageSize = maximumPageSize
    this.recordsChanges = changesDays > 0
    this.#context = context
    this.#takeTurn = takeTurn
    this.#source = (transaction ? undefined : readers?.clientFor(caller)) ?? client
  }

  /** Whether an access rule limits the caller. */
  get isLimited(): boolean {
    const { access, resources } = this.#context
    return resources.some((resource) => access.isLimited(resource))
  }

  /** The fields that the caller sees of a resource. */
  view(resource: Resource): Resource {
    return viewFor(resource, this.caller)
  }

  /** @throws {DomainError} ACCESS_DENIED (403), RESOURCE_NOT_FOUND (404), RESOURCE_GONE (410) */
  async read(resource: Resource, key: ResourceKey): Promise<Row> {
    this.#authorize(resource, 'read')
    const { access } = this.#context
    const row = isResourceKey(key) ? await this.#source.findByKey(resource, key, access) : null
    return row ?? Promise.reject(await notFoundOrGone(this.#source, resource, key, access))
  }

  /** @throws {DomainError} ACCESS_DENIED (403), also without a key */
  find(resource: Resource, key: ResourceKey | undefined): Promise<Row | undefined> | undefined {
    this.#authorize(resource, 'read')
    return key && this.#reader.find(resource, key)
  }

  /** Whether {@link find} would find it, for any scopes. */
  async exists(resource: Resource, key: ResourceKey): Promise<boolean> {
    return (await this.#reader.find(resource, key)) !== undefined
  }

  /** @throws {DomainError} ACCESS_DENIED (403) */
  listing(source: ListSource): Listing {
    this.#authorize(source.resource, 'read')
    return new Listing(source, this.#reader)
  }

  /**
   * Reads the record of changes of some resources. Callers that see the same of it share equal reads.
   *
   * @param key tells reads apart, besides what the caller sees
   * @throws {DomainError} ACCESS_DENIED (403)
   */
  async recorded<Result>(
    resources: readonly Resource[],
    key: readonly unknown[],
    read: (record: Recorded) => Promise<Result>,
  ): Promise<Result> {
    const { access, client, changesDays } = this.#context
    for (const resource of resources) this.#authorize(resource, 'read')
    const missing: Recorded['missing'] = (resource, of) => notFoundOrGone(client, resource, of, access)
    const run = () => read({ client, access, changesDays, missing })
    return shareRead(this.slot, { client, key: readableKey(resources, access, ...key), scans: [], run })
  }

  /** Makes later reads of the caller include all changes so far, as if they were its own. */
  includeChanges(): void {
    this.#context.readers?.recordWrite(this.caller)
  }

  /**
   * Writes a resource. Later reads of the operation see the write.
   *
   * @throws {DomainError} ACCESS_DENIED (403), and as the functions of `write.ts`
   */
  async write(resource: Resource, { kind, key, values, options, shows }: Write) {
    const context = this.#context
    const { access, showsWritten, transaction } = context
    this.#authorize(resource, 'write')
    const shown = (!showsWritten && shows?.()) || 'nothing'
    // Whether the version rises, or has risen by a write before, tells a stored value, and leaves no trace.
    const isTried = transaction?.isDryRun && (kind === 'patch' || kind === 'put')
    const isCompared = transaction && dependsOnVersion(options)
    if (shown !== 'nothing' || isTried || isCompared) this.#authorize(resource, 'read')
    const view = this.view(resource)
    for (const sent of [values, options.readOnly]) refuseSent(view, sent)
    const { outcome, row } = await this.#writing(async (): Promise<Outcome> => {
      // What is shown besides its fields is read after the write, and must not show later ones.
      const creation = () => (shown === 'relations' ? undefined : creationOf(kind, key, values, options))
      const together = await this.#takeTurn?.({ resource, key, creation: creation() })
      return together ?? WRITES[kind](context, resource, key as ResourceKey, values, options)
    })
    const referred = () => referredOf(context.client, access, 'read', resource, [row as Row])
    const isReadable = row !== undefined && access.admits('read', resource, row, await referred())
    return { outcome, isReadable, row: isReadable || showsWritten ? row : null }
  }

  /** Creates what it can of these resources in one transaction, and tells which are new. */
  createAll(resource: Resource, creations: readonly Creation[]): Promise<boolean[]> {
    this.#authorize(resource, 'write')
    return this.#writing(() => createAll(this.#context, resource, creations))
  }

  /** Creates rows with what another system recorded of them. */
  createRecorded(resource: Resource, rows: readonly RecordedRow[]): Promise<RecordedOutcome[]> {
    this.#authorize(resource, 'write')
    return this.#writing(() => createRecorded(this.#context, resource, rows))
  }

  /**
   * Runs operations of one write each, in order, in one transaction, and again as a whole after a conflict with another one.
   *
   * @param errorsOf the errors that an operation did not throw
   * @returns the results; if atomic, up to the first with an error
   * @throws {DomainError} SERVICE_UNAVAILABLE (503), and what an operation throws
   */
  together<Result>(
    { isAtomic, isDryRun }: TransactionMode,
    operations: readonly ((inside: Session) => Promise<Result>)[],
    errorsOf: (result: Result) => readonly unknown[] = () => [],
  ): Promise<Result[]> {
    const context = this.#context
    const slot: Slot = { ...UNLIMITED, throwIfLate: () => this.slot.throwIfLate() }
    const goesOn = (result: Result) => {
      const errors = errorsOf(result)
      if (errors.some(endsTransaction)) throw new TransactionEnded()
      slot.throwIfLate()
      return !isAtomic || errors.length === 0
    }
    return this.#writing(() =>
      inOneTransaction(context, { hasSavepoints: !isAtomic, isDryRun }, async (client, transaction) => {
        const inside = { ...context, client, transaction, slot }
        const inTurn = operations.map(
          (operation) => (takeTurn: TakeTurn) => operation(new Session(inside, takeTurn)),
        )
        const result = await executeInOrder(inside, inTurn, goesOn)
        return { result, isKept: !isDryRun && result.every(goesOn) }
      }),
    )
  }

  async #writing<Result>(work: () => Promise<Result>): Promise<Result> {
    const { client, written } = this.#context
    try {
      return await this.slot.write(work)
    } finally {
      written(this.caller)
      this.#source = client
      this.#opened = undefined
    }
  }

  /** Opened when it is needed, and anew after a write. */
  get #reader(): Reader {
    this.#opened ??= new Reader(this.#context, this.#source)
    return this.#opened
  }

  #authorize(resource: Resource, action: Action): void {
    this.slot.throwIfLate()
    authorize(this.caller, resource, action)
  }
}

function dependsOnVersion({ versions, unmodifiedSince, unlessVersions }: WriteOptions): boolean {
  return versions !== undefined || unmodifiedSince !== undefined || Array.isArray(unlessVersions)
}

export type OpenSession = (caller: Caller, slot: Slot, showsWritten?: boolean) => Session

export function sessionsOf(domain: Domain): OpenSession {
  return (caller, slot, showsWritten = false) => {
    const own = { caller, access: domain.accessOf(caller), slot, showsWritten }
    // In a literal, members after those of the domain would take 6 µs.
    return new Session(Object.assign({}, domain, own))
  }
}

/** The `requestKey` of reads of resources of which callers may see different rows. */
export function readableKey(
  resources: readonly Resource[],
  access: Access,
  ...parts: readonly unknown[]
): string {
  return requestKey(
    ...parts,
    resources.map((resource) => [resource.path, access.readable(resource)]),
  )
}
