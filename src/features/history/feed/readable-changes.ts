import type { StatementClient } from '../../../database/database-client.ts'
import { exactColumns } from '../../../database/sql/statement.ts'
import type { Access } from '../../../model/access/access.ts'
import type { Resource } from '../../../model/definition/resource.ts'
import { DomainError } from '../../../model/errors.ts'
import { requestKey } from '../../../model/query/request-key.ts'
import type { Columns } from '../../../model/rows/row.ts'
import { type Place, toCursor, toPartCursor } from './position.ts'
import { type ChangeRow, type RecordedChange, toChange } from './recorded-change.ts'
import { childrenStatement, limitingOwner, type RecordedState, seesState } from './states.ts'

/** A stored change with the states that decide who sees it. */
export interface StateRow extends ChangeRow {
  readonly before: Columns | null
  readonly before_exact: Columns | null
  /** The state of the parent at that time. */
  readonly parent: Columns | null
  readonly parent_exact: Columns | null
}

interface ChildRow extends RecordedState {
  readonly read: number
  /** Null if there are none. */
  readonly id: string | null
}

export interface ReadRequest {
  readonly resources: readonly Resource[]
  readonly access: Access
}

/** Children that may enter or leave a view with their parent, and states that are read to find them. */
const MAXIMUM_CHILDREN = 1_000

/** A text that is the same for callers that see the same changes of these resources. */
export function readableKey({ resources, access }: ReadRequest): string {
  return requestKey(resources.map((resource) => [resource.path, access.readable(resource) ?? null]))
}

/** For a caller that may not read all rows of these resources; undefined for another caller. */
export function readableChangesOf(
  client: StatementClient,
  request: ReadRequest,
): ReadableChanges | undefined {
  const isLimited = request.resources.some((resource) => request.access.readable(resource))
  return isLimited ? new ReadableChanges(client, request) : undefined
}

/**
 * The changes that a caller sees that may not read all rows: the changes of those that it may read. A row that enters its
 * view is created, and one that leaves it is deleted. What a parent owns enters and leaves with it, in the same change.
 */
export class ReadableChanges {
  /** Also the owners, whose changes decide on what they own. */
  readonly scanned: readonly Resource[]
  readonly access: Access
  readonly #resources: readonly Resource[]
  #childrenRead = 0

  constructor(
    private readonly client: StatementClient,
    { resources, access }: ReadRequest,
  ) {
    this.access = access
    this.#resources = resources
    const owners = resources.flatMap((resource) => limitingOwner(access, resource) ?? [])
    this.scanned = [...new Set([...resources, ...owners])]
  }

  /**
   * A page of what the caller sees of stored changes.
   *
   * @returns `next` for a page that ends before these changes do
   * @throws {DomainError} RESOURCE_GONE (410) if more than 1,000 children enter or leave at once
   */
  async pageOf(rows: readonly StateRow[], limit: number, place: Place) {
    const changes: RecordedChange[] = []
    for (const row of rows) {
      const parts = await this.#changesIn(row)
      changes.push(...(row.position === place.after + 1 ? parts.slice(place.parts) : parts))
      if (changes.length > limit)
        return { changes: changes.slice(0, limit), next: changes[limit - 1]?.cursor }
      if (this.#childrenRead >= MAXIMUM_CHILDREN) return { changes, next: toCursor(row.position as number) }
    }
    return { changes, next: undefined }
  }

  /**
   * What the caller sees of a stored change: nothing, the change of a resource, or also those of its children. Each has a
   * cursor of its own.
   */
  async #changesIn(row: StateRow): Promise<RecordedChange[]> {
    const [resources, access] = [this.#resources, this.access]
    const resource = this.scanned.find(({ path }) => path === row.collection) as Resource
    const isRequested = resources.includes(resource)
    if (!access.readable(resource)) return isRequested ? [toChange(resources, row)] : []
    const { was, is } = this.#visibility(resource, row)
    if (!was && !is) return []
    const ownChange = was && is ? row : !was ? entering(row, row) : leaving(row, row.before)
    const isMoved = was !== is && row.event === 'changed'
    const children = isMoved ? await this.#childrenOf(resource, row, is) : []
    const owned = isRequested ? [ownChange] : []
    const parts = is ? [...owned, ...children] : [...children, ...owned]
    return parts.map((part, index) => {
      const change = toChange(resources, part)
      const isLast = index === parts.length - 1
      return isLast ? change : { ...change, cursor: toPartCursor(row.position as number, index + 1) }
    })
  }

  #visibility(resource: Resource, row: StateRow) {
    const { access } = this
    const owner = limitingOwner(access, resource)
    const parent = { columns: row.parent, exact: row.parent_exact }
    if (owner && !seesState(access, owner, parent)) return { was: false, is: false }
    const is = row.event !== 'deleted' && seesState(access, resource, row)
    const before = { columns: row.before, exact: row.before_exact }
    // The state is missing if the change was made while the service began to record states.
    const isMissing = row.event === 'changed' && row.before === null
    return { was: isMissing ? is : seesState(access, resource, before), is }
  }

  /** The children at the time of a change of their parent. */
  async #childrenOf(owner: Resource, change: StateRow, isEntering: boolean): Promise<ChangeRow[]> {
    const { access } = this
    const children: ChangeRow[] = []
    for (const resource of this.#resources) {
      if (limitingOwner(access, resource) !== owner) continue
      const values = [exactColumns(resource), change.id, change.position, MAXIMUM_CHILDREN + 1]
      const rows = await this.client.$rows<ChildRow>({ text: childrenStatement(resource), values })
      const read = rows[0]?.read ?? 0
      this.#childrenRead += read
      if (read > MAXIMUM_CHILDREN) throw tooMany(resource)
      for (const { id, ...state } of rows) {
        if (id === null || !seesState(access, resource, state)) continue
        const child = { ...change, ...state, collection: resource.path, parent_id: change.id, id }
        children.push(isEntering ? entering(child, state) : leaving(child, state.columns))
      }
    }
    return children
  }
}

function entering(row: ChangeRow, { columns }: RecordedState): ChangeRow {
  return { ...row, event: 'created', version: (columns as Columns)['version'] as number }
}

/** As a deletion of the state before. */
function leaving(row: ChangeRow, before: Columns | null): ChangeRow {
  const version = (before as Columns)['version'] as number
  return { ...row, event: 'deleted', version, columns: null, exact: null }
}

function tooMany({ path }: Resource): DomainError {
  const message =
    `More than ${MAXIMUM_CHILDREN} ${path}, or more than 16 MiB, have entered or left what you may read, with their parent. ` +
    'Read the lists again and continue from there.'
  return new DomainError('RESOURCE_GONE', message)
}
