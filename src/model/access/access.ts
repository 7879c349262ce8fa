import type { RuleSettings } from '../definition/database-rule.ts'
import type { Resource } from '../definition/resource.ts'
import { DomainError } from '../errors.ts'
import { type LowerCase, type Matcher, matcherOf, type Referred } from '../query/matches.ts'
import { type Filter, isEmpty, leafNamed, partsOf } from '../query/query.ts'
import type { Columns } from '../rows/row.ts'
import { accessFilter, NOTHING } from './access-filter.ts'
import { ACCESS_ACTIONS, type AccessAction, type AccessCaller, type AccessRule } from './access-rules.ts'

declare const OF_ACCESS: unique symbol

/** The rows of a list that a caller may read. Only {@link Access.rows} makes one. */
export interface ReadableRows {
  /** The filter of the request. */
  readonly filter: Filter | undefined
  /** The filter of the access rules. */
  readonly readable: Filter | undefined
  readonly [OF_ACCESS]: true
}

interface Rights {
  readonly caller: AccessCaller
  readonly settings: RuleSettings
  readonly resources: readonly Resource[]
  readonly lower: LowerCase
}

/** What a caller may do with the rows of each resource, during one operation. */
export class Access {
  /** By action and path: several can have the same rule. */
  readonly #filters = new Map<string, Filter | undefined>()
  readonly #matchers = new Map<string, Matcher>()

  /** @param rights undefined for access to everything */
  constructor(private readonly rights?: Rights) {}

  /**
   * The filter of the rows that the caller may read, also of their parents, which owned resources exist with; undefined for
   * all rows.
   */
  readable(resource: Resource): Filter | undefined {
    const { owner, parentField } = resource
    const own = this.rule('read', resource)
    const parents = owner && this.readable(owner)
    if (!parents) return own
    const related = { column: parentField as string, target: owner, related: parents }
    return own ? { all: [own, related] } : related
  }

  /** The rows that match a filter and that the caller may read, also in the resources that the filter refers to. */
  rows(resource: Resource, filter?: Filter): ReadableRows {
    return {
      filter: filter && this.#amongReadable(filter),
      readable: this.readable(resource),
    } as ReadableRows
  }

  /** Whether a rule admits a row by itself; {@link readable} also asks for its parent. */
  admits(action: AccessAction, resource: Resource, row: Columns, referred: Referred): boolean {
    const filter = this.rule(action, resource)
    if (!filter || !this.rights) return true
    const key = `${action} ${resource.path}`
    const matches = this.#matchers.get(key) ?? matcherOf(resource, filter, this.rights.lower)
    this.#matchers.set(key, matches)
    return matches(row, referred)
  }

  /** @throws {DomainError} ACCESS_DENIED (403) if the rule does not admit the row */
  require(action: AccessAction, resource: Resource, row: Columns, referred: Referred): void {
    if (this.admits(action, resource, row, referred)) return
    const message = `The access rules of ${resource.path} do not allow you to ${action} it.`
    throw new DomainError('ACCESS_DENIED', message)
  }

  /** Whether a rule compares what only the database or a database rule determines, so that it decides on the stored row. */
  needsStored(action: AccessAction, resource: Resource): boolean {
    const filter = this.rule(action, resource)
    const columns = filter ? comparedColumns(resource, filter) : []
    return columns.some((column) => isSetLate(resource, column))
  }

  /** Whether a rule limits what this caller can do with a resource. */
  isLimited(resource: Resource): boolean {
    if (!this.rights) return false
    const isFiltered = ACCESS_ACTIONS.some((action) => this.rule(action, resource))
    return isFiltered || this.readable(resource) !== undefined
  }

  /** The filter of the rows that a rule admits by itself; undefined for all. */
  rule(action: AccessAction, resource: Resource): Filter | undefined {
    const rule = resource.access?.[action]
    if (!rule || !this.rights) return undefined
    const key = `${action} ${resource.path}`
    if (!this.#filters.has(key)) this.#filters.set(key, filterOf(resource, rule, this.rights))
    return this.#filters.get(key)
  }

  #amongReadable(filter: Filter): Filter {
    if ('related' in filter) {
      const readable = this.readable(filter.target)
      return readable ? { ...filter, related: { all: [filter.related, readable] } } : filter
    }
    const parts = () => partsOf(filter).map((part) => this.#amongReadable(part))
    if ('not' in filter) return { not: this.#amongReadable(filter.not) }
    if ('all' in filter) return { all: parts() }
    return 'any' in filter ? { any: parts() } : filter
  }
}

/** The columns that the filter of a rule compares. */
export function comparedColumns(resource: Resource, filter: Filter): string[] {
  if ('related' in filter) return [filter.column]
  if (!('field' in filter)) return partsOf(filter).flatMap((part) => comparedColumns(resource, part))
  const { column, field } = leafNamed(resource, filter.field)
  return 'alsoMatches' in field && field.alsoMatches ? [column, field.alsoMatches] : [column]
}

function isSetLate({ leaves, createdField }: Resource, name: string): boolean {
  const field = leaves.find(({ column }) => column === name)?.field
  const isTime = name === createdField || name === 'last_updated'
  return isTime || field?.computed !== undefined || field?.hidden === true
}

/** Whether a caller may be unable to read a row that it has written. */
export function hidesRows({ access, owner }: Resource): boolean {
  return access?.read !== undefined || (owner !== undefined && hidesRows(owner))
}

/** @param _reason why all rows are meant; for people */
export function unrestricted(_reason: string): Access {
  return EVERYTHING
}

const EVERYTHING = new Access()

/** Undefined for all rows. */
function filterOf(resource: Resource, rule: AccessRule, rights: Rights): Filter | undefined {
  const { caller, settings, resources } = rights
  const decision = rule(caller, settings)
  if (typeof decision === 'boolean') return decision ? undefined : NOTHING
  const filter = accessFilter(resource, decision, resources)
  return isEmpty(filter) ? undefined : filter
}
