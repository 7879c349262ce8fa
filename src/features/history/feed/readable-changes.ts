import type { StatementClient } from '../../../database/database-client.ts'
import { referredOf } from '../../../database/referred.ts'
import { exactColumns } from '../../../database/sql/statement.ts'
import type { Access } from '../../../model/access/access.ts'
import type { Resource } from '../../../model/definition/resource.ts'
import { DomainError } from '../../../model/errors.ts'
import type { Columns } from '../../../model/rows/row.ts'
import { type ChangeRow, type Place, type RecordedChange, toChange, toCursor } from './recorded-change.ts'
import { childrenStatement, limitingOwner, seesState } from './states.ts'

/** A stored change with the states that decide who sees it. */
export interface StateRow extends ChangeRow {
  readonly before: Columns | null
  /** The state of the parent at that time. */
  readonly parent: Columns | null
}

interface ChildRow {
  readonly columns: Columns
  readonly read: number
  readonly total: number
  /** Null if there are none. */
  readonly id: string | null
}

export interface ReadRequest {
  readonly resources: readonly Resource[]
  readonly access: Access
}

/** Children that may enter or leave a view with their parent, and changes of them since. */
const MAXIMUM_CHILDREN = 1_000

/**
 * The changes that a caller sees that may not read all rows: the changes of those that it may read. A row that enters its
 * view is created, and one that leaves it is deleted. What a parent owns enters and leaves with it, in the same change.
 */
export class ReadableChanges {
  /** Also the owners, whose changes decide on what they own. */
  readonly scanned: readonly Resource[]
  readonly access: Access
  readonly #resources: readonly Resource[]
  readonly #referred = new Map<object, ReadonlySet<unknown>>()
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
    // Those of other resources only add identifiers.
    const states = rows.flatMap(({ before, columns, parent }) =>
      [before ?? [], columns ?? [], parent ?? []].flat(),
    )
    for (const resource of this.scanned) {
      const found = await referredOf(this.client, this.access, 'read', resource, states)
      for (const [condition, ids] of found) this.#referred.set(condition, ids)
    }
    for (const row of rows) {
      const skipped = row.position === place.after + 1 ? place.parts : 0
      changes.push(...(await this.#changesIn(row, skipped, limit + 1 - changes.length)))
      if (changes.length > limit)
        return { changes: changes.slice(0, limit), next: changes[limit - 1]?.cursor }
      if (this.#childrenRead >= MAXIMUM_CHILDREN) return { changes, next: toCursor(row.position as number) }
    }
    return { changes, next: undefined }
  }

  /**
   * A part of what the caller sees of a stored change: nothing, the change of a resource, or also those of its children. Each
   * has a cursor of its own.
   */
  async #changesIn(row: StateRow, skipped: number, limit: number): Promise<RecordedChange[]> {
    const [resources, access] = [this.#resources, this.access]
    const resource = this.scanned.find(({ path }) => path === row.collection) as Resource
    const isRequested = resources.includes(resource)
    if (!access.readable(resource)) return isRequested ? [toChange(resources, row)] : []
    const { was, is } = this.#visibility(resource, row)
    if (!was && !is) return []
    const ownChange = was && is ? row : !was ? entering(row) : leaving(row, row.before)
    const owned = isRequested ? [ownChange] : []
    // A parent enters before its children, and leaves after them.
    const place = is ? owned.length : 0
    const isMoved = was !== is && row.event === 'changed'
    const before = Math.max(0, skipped - place)
    const { children, total } = isMoved
      ? await this.#childrenOf(resource, row, is, before, limit)
      : { children: [], total: 0 }
    const last = owned.length + total - 1
    const own = owned.map((part) => ({ part, index: is ? 0 : last })).filter(({ index }) => index >= skipped)
    const others = children.map((part, index) => ({ part, index: place + before + index }))
    return (is ? [...own, ...others] : [...others, ...own]).slice(0, limit).map(({ part, index }) => {
      const change = toChange(resources, part)
      return index === last ? change : { ...change, cursor: toCursor(row.position as number, index + 1) }
    })
  }

  #visibility(resource: Resource, row: StateRow) {
    const { access } = this
    const owner = limitingOwner(access, resource)
    const sees = (one: Resource, state: Columns | null) => seesState(access, one, state, this.#referred)
    if (owner && !sees(owner, row.parent)) return { was: false, is: false }
    const is = row.event !== 'deleted' && sees(resource, row.columns)
    // The state is missing if the change was made while the service began to record states.
    const isMissing = row.event === 'changed' && row.before === null
    return { was: isMissing ? is : sees(resource, row.before), is }
  }

  /** Some of the children at the time of a change of their parent, and how many there are. */
  async #childrenOf(owner: Resource, change: StateRow, isEntering: boolean, skipped: number, limit: number) {
    const { access } = this
    const children: ChangeRow[] = []
    let total = 0
    for (const resource of this.#resources) {
      if (limitingOwner(access, resource) !== owner) continue
      const part = [Math.max(0, skipped - total), limit - children.length]
      const values = [exactColumns(resource), change.id, change.position, MAXIMUM_CHILDREN + 1, ...part]
      const rows = await this.client.$rows<ChildRow>(childrenStatement(resource, access, values))
      const [counted] = rows as [ChildRow]
      this.#childrenRead += counted.read
      if (counted.read > MAXIMUM_CHILDREN) throw tooMany(resource)
      total += counted.total
      for (const { id, columns } of rows) {
        if (id === null) continue
        const child = { ...change, columns, collection: resource.path, parent_id: change.id, id }
        children.push(isEntering ? entering(child) : leaving(child, columns))
      }
    }
    return { children, total }
  }
}

function entering(row: ChangeRow): ChangeRow {
  return { ...row, event: 'created', version: row.columns?.['version'] as number }
}

/** As a deletion of the state before. */
function leaving(row: ChangeRow, before: Columns | null): ChangeRow {
  return { ...row, event: 'deleted', version: before?.['version'] as number, columns: null }
}

function tooMany({ path }: Resource): DomainError {
  const message =
    `More than ${MAXIMUM_CHILDREN} ${path} have entered or left what you may read, with their parent. ` +
    'Read the lists again and continue from there.'
  return new DomainError('RESOURCE_GONE', message)
}
