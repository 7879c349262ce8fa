import DataLoader from 'dataloader'
import type { DatabaseClient } from '../../database/database-client.ts'
import { rejectUnavailable } from '../../database/errors.ts'
import { withKeys } from '../../database/key-reads.ts'
import type { ReadableRows } from '../../model/access/access.ts'
import { allows, authorize, namespaceOf } from '../../model/access/caller.ts'
import { kindOf } from '../../model/definition/fields.ts'
import type { Resource } from '../../model/definition/resource.ts'
import { refuseWithheld, viewFor, viewOf } from '../../model/definition/views.ts'
import { errorAt } from '../../model/errors.ts'
import { type AggregateRequest, type Group, MEASURES, measurePasses } from '../../model/query/aggregate.ts'
import {
  filterPasses,
  type List,
  type ListRequest,
  passesOf,
  type Scan,
  scansOf,
} from '../../model/query/list.ts'
import { type Filter, leafNamed, partsOf, relatedTargets } from '../../model/query/query.ts'
import { isIdentifier, keyOf, keyOfText, keyText, type ResourceKey } from '../../model/rows/identifiers.ts'
import type { Row } from '../../model/rows/row.ts'
import type { SessionContext } from '../context.ts'
import { aggregate, notFoundOrGone } from '../read.ts'
import { requestKey, shareRead } from './shared-reads.ts'

/**
 * What one operation reads with. Simultaneous look-ups of one kind become one statement, and no row is read twice, so the
 * number of statements does not depend on the number of resources.
 */
export class Reader {
  readonly #loaders = new Map<string, unknown>()
  readonly #remembered = new Map<Resource, Row[]>()

  constructor(
    readonly context: SessionContext,
    readonly client: DatabaseClient,
  ) {}

  /** @throws {DomainError} ACCESS_DENIED (403) for a field that needs a scope which the caller lacks */
  refuseFields(resource: Resource, names: readonly string[]): void {
    const view = viewFor(resource, this.context.caller)
    for (const name of names) refuseWithheld(view, name)
  }

  find(resource: Resource, key: ResourceKey): Promise<Row | undefined> {
    const { client, context } = this
    const loader = this.loader(resource.path, async (keys) => {
      const where = withKeys(resource, keys.map(keyOfText))
      const rows = await client.findMany(resource, { where }, context.access).catch(rejectUnavailable)
      return new Map(rows.map((row) => [keyText(keyOf(resource, row)), row]))
    })
    for (const row of this.#remembered.get(resource) ?? []) loader.prime(keyText(keyOf(resource, row)), row)
    this.#remembered.delete(resource)
    return loader.load(keyText(key))
  }

  /**
   * Keeps the rows of a list, so that they are not read again. They prime a loader only when it is used: most operations
   * need none, and priming it with 20 rows takes 100 µs.
   */
  remember(resource: Resource, rows: readonly Row[]): void {
    const remembered = this.#remembered.get(resource)
    if (remembered) remembered.push(...rows)
    else this.#remembered.set(resource, [...rows])
  }

  /** Sends a statement of a list when a connection is free; equal ones once. A transaction has a connection already. */
  send<Result>(
    key: readonly unknown[],
    scans: readonly Scan[],
    run: (client: DatabaseClient) => Promise<Result>,
  ): Promise<Result> {
    const { client } = this
    const { slot, transaction } = this.context
    if (transaction) return run(client)
    return shareRead(slot, { client, key: requestKey(...key), scans, run: () => run(client) })
  }

  /** Collects the look-ups of one kind in one turn of the event loop. */
  loader<Value>(kind: string, read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Value>>) {
    const known = this.#loaders.get(kind) as DataLoader<string, Value | undefined> | undefined
    if (known) return known
    const loader = new DataLoader<string, Value | undefined>(async (ids) => {
      this.context.slot.throwIfLate()
      const values = await read(ids)
      return ids.map((id) => values.get(id))
    })
    this.#loaders.set(kind, loader)
    return loader
  }
}

/** The owner of listed resources, or the resource that they refer to. */
export interface Parent {
  readonly resource: Resource
  readonly id: string
  /** The column of the listed resources that holds the identifier. */
  readonly column: string
}

/** A whole collection, or the part that belongs to one parent. */
export interface ListSource {
  readonly resource: Resource
  readonly parent?: Parent | undefined
}

/** A list, for a caller with the scope to read it: only sessions make one. */
export class Listing {
  readonly resource: Resource
  readonly resources: readonly Resource[]

  constructor(
    private readonly source: ListSource,
    private readonly reader: Reader,
  ) {
    this.resource = source.resource
    this.resources = reader.context.resources
  }

  /** The name of the namespace that cursors are valid in. */
  get namespace(): string {
    return namespaceOf(this.reader.context.caller).name
  }

  /** The fields that the caller sees. */
  view(apiVersion: string | null | undefined): Resource {
    return viewFor(viewOf(this.resource, apiVersion ?? undefined), this.reader.context.caller)
  }

  /** What the caller sees of another resource: nothing without the scope to read it. */
  readonly shown = (resource: Resource): Resource[] => {
    const { caller } = this.reader.context
    return allows(caller, resource, 'read') ? [viewFor(resource, caller)] : []
  }

  /**
   * The rows that match a filter.
   *
   * @throws {DomainError} ACCESS_DENIED (403) for a relation or a field; INVALID_QUERY_PARAMETER (400) for a text
   */
  rows(filter: Filter | undefined): ReadableRows {
    const { access, caller } = this.reader.context
    for (const target of filter ? relatedTargets(filter) : []) authorize(caller, target, 'read')
    if (filter) this.#check(this.resource, filter)
    return access.rows(this.resource, filter)
  }

  /**
   * Reads a part of the list, whose rows later look-ups of single resources use.
   *
   * @throws {DomainError} RESOURCE_NOT_FOUND (404) or RESOURCE_GONE (410) for the parent; ACCESS_DENIED (403) for a field
   */
  async read(request: ListRequest): Promise<List> {
    const { reader, resource } = this
    const { parent } = this.source
    const sorted = request.sorts.map(({ field }) => field)
    reader.refuseFields(resource, parent ? [...sorted, parent.column] : sorted)
    const { client } = reader
    // For owned resources, only the lists of one parent have an index in the order of creation.
    const passes = Math.max(passesOf(request), resource.owner && !parent ? 1 : 0)
    const scans = scansOf(resource, passes, request.rows.filter)
    const list = parent
      ? await this.#ofParent(parent, request, scans)
      : await reader.send([resource.path, request], scans, (from) => from.list(resource, request))
    if (!list) {
      const { resource: owner, id } = parent as Parent
      throw await notFoundOrGone(client, owner, { id }, reader.context.access)
    }
    if (!request.versionsOnly) reader.remember(resource, list.rows)
    return list
  }

  /** Reads the lists of several parents at once. Undefined if there is no such parent. */
  #ofParent(
    { resource: owner, id, column }: Parent,
    request: ListRequest,
    scans: ReturnType<typeof scansOf>,
  ) {
    const { reader, resource } = this
    const readable = reader.context.access.readable(owner)
    const kind = requestKey(owner.path, resource.path, column, request)
    const read = (ids: readonly string[]) => {
      const parents = { resource: owner, ids: ids.filter(isIdentifier), column, readable }
      return reader.send([kind, ids, readable], scans, (client) => client.lists(resource, parents, request))
    }
    return reader.loader(kind, read).load(id)
  }

  /**
   * Counts and measures groups of the list.
   *
   * @param rowsOf makes the rows, once the caller may read the fields
   * @throws {DomainError} ACCESS_DENIED (403) for a field, and as `rowsOf` does
   */
  groups(request: Omit<AggregateRequest, 'rows'>, rowsOf: () => ReadableRows): Promise<Group[]> {
    const { resource } = this
    const { groupBy, groupByTime, groupByRange, measures } = request
    const measured = new Set(MEASURES.flatMap((measure) => measures[measure]))
    const names = resource.leaves.flatMap(({ column, name }) => (measured.has(column) ? [name] : []))
    const grouped = [...groupBy, groupByTime?.field ?? [], groupByRange?.field ?? []].flat()
    this.reader.refuseFields(resource, [...grouped, ...names])
    const whole = { ...request, rows: rowsOf() }
    const { filter } = whole.rows
    const sorting = MEASURES.reduce((sum, one) => sum + measurePasses(one) * measures[one].length, 0)
    const scans = scansOf(resource, filterPasses(filter) + sorting, filter)
    return this.reader.send(['groups', resource.path, whole], scans, (client) =>
      aggregate(client, resource, whole),
    )
  }

  /** Refuses fields that need a scope, and texts that no value of the field can be equal to or contain. */
  #check(resource: Resource, filter: Filter): void {
    if ('related' in filter) this.reader.refuseFields(resource, [filter.column])
    if (!('field' in filter)) {
      const target = 'related' in filter ? filter.target : resource
      for (const part of partsOf(filter)) this.#check(target, part)
      return
    }
    this.reader.refuseFields(resource, [filter.field])
    const { field } = leafNamed(resource, filter.field)
    for (const value of [filter.value].flat()) {
      const checked = typeof value === 'string' ? kindOf(field).fromQuery(field, value) : { value }
      if (!('problem' in checked)) continue
      const message = `filter: ${filter.field} ${checked.problem}.`
      throw errorAt('filter', checked.code, 'INVALID_QUERY_PARAMETER', message)
    }
  }
}
