import type { Context } from 'koa'
import { LRUCache } from 'lru-cache'
import type { Executor, OperationText, PreparedOperation } from '../graph/execution/operation.ts'
import { camelCase, graphNames, parentArgument, singular } from '../graph/names.ts'
import { callerOf } from '../http/auth/authenticate.ts'
import { preferencesOf, reportApplied } from '../http/headers/preferences.ts'
import { DEFAULT_PAGE_SIZE } from '../model/query/query.ts'
import { referenceLeaves } from '../model/relations.ts'
import type { Resource, Values } from '../model/resource.ts'
import type { Embed, Selection } from './hal.ts'

/** Without a selection, the operation is for whole resources. Lists are counted by default. */
export type SelectOperation = (selection: Selection | undefined, isCounted?: boolean) => PreparedOperation

export type Operations = ReturnType<typeof resourceOperations>

/** For each resource. Bounds the memory that varying requests can fill. */
const MAXIMUM_SELECTIONS = 20

/** The types of variables by name. Each is the argument of that name. */
type Variables = Readonly<Record<string, string>>

/** Some of these operations may have no route. */
export function resourceOperations(resource: Resource, prepare: Executor['prepare']) {
  const { parentField, listed, isVersioned } = resource
  const names = graphNames(resource)
  const ownParent: Variables = parentField === undefined ? {} : { parentId: 'ID!' }
  const keyed = { ...ownParent, ...(listed && { id: 'ID!' }) }
  const condition = { ifVersion: '[Int!]', ifUnmodifiedSince: 'DateTime' }
  const state = { readOnly: names.readOnlyInput, ...condition }
  const input = `${names.input}!`
  const version: Variables = isVersioned ? { apiVersion: 'ApiVersion' } : {}
  const outcome = `outcome resource: ${singular(resource)} { ${wireSelection(resource)} }`

  /** The parent is always the variable `$parentId`, as in routes, although the names of the arguments differ. */
  function written(
    type: OperationText['type'],
    name: string,
    result: 'resource' | 'list' | 'write',
    variables: Variables,
    selection: string,
    parent = parentArgument(resource),
  ): OperationText {
    const declared = Object.entries(variables).map(([variable, of]) => `$${variable}: ${of}`)
    const given = Object.keys(variables).map(
      (variable) => `${variable === 'parentId' ? parent : variable}: $${variable}`,
    )
    const text = `${type} (${declared.join(', ')}) { ${result}: ${name}(${given.join(', ')}) { ${selection} } }`
    return { type, name, text }
  }

  /** Prepares the operation for whole resources, and keeps the most recently used of the others. */
  function selecting(write: (...options: Parameters<SelectOperation>) => OperationText): SelectOperation {
    const whole = prepare(write(undefined))
    const kept = new LRUCache<string, PreparedOperation>({ max: MAXIMUM_SELECTIONS })
    const select: SelectOperation = (selection, isCounted = true) => {
      if (!selection && isCounted) return whole
      const operation = write(selection, isCounted)
      const text = operation.text as string
      const prepared =
        kept.get(text) ??
        prepare({ ...operation, wider: selection?.fields && select(withAllFields(selection), isCounted) })
      kept.set(text, prepared)
      return prepared
    }
    return select
  }

  const write = (name: string, variables: Variables, selection = outcome) =>
    prepare(written('mutation', name, 'write', variables, selection))

  function list(parentVariables: Variables, parent?: string): SelectOperation {
    const variables = {
      ...parentVariables,
      page: 'Int!',
      limit: 'Int!',
      cursor: 'String',
      sort: `[${names.sort}!]!`,
      filter: names.filter,
      search: 'String',
      unlessRevision: 'String',
      ...version,
    }
    return selecting((selected, isCounted = true) => {
      const selection = `revision since: changesCursor ${pageSelection(resource, isCounted, selected)}`
      return written('query', names.page, 'list', variables, selection, parent)
    })
  }

  return {
    list: list(ownParent),
    /** For /{parent}/{id}/{path}: the resources that refer to the parent in this column. */
    nestedList: (column: string) => list({ parentId: 'ID!' }, camelCase(column)),
    read: selecting((selected) =>
      written('query', names.read, 'resource', keyed, wireSelection(resource, selected)),
    ),
    create: write(names.create, {
      ...ownParent,
      input,
      idempotencyKey: 'String',
      otherThan: 'ID',
      ...version,
    }),
    put: write(names.put, {
      ...keyed,
      input,
      ...state,
      mayCreate: 'Boolean!',
      mayReplace: 'Boolean!',
      ...version,
    }),
    patch: write(names.patch, { ...keyed, patch: `${names.patchInput}!`, ...state, ...version }),
    remove: write(names.delete, { ...keyed, ...condition, strict: 'Boolean!' }, 'outcome'),
  }
}

function withAllFields({ embeds, ...selection }: Selection): Selection | undefined {
  return embeds && { ...selection, embeds, fields: undefined }
}

function pageSelection(resource: Resource, isCounted: boolean, selection?: Selection): string {
  return `page ${isCounted ? 'total_count: totalCount ' : ''}has_more: hasMore next: nextCursor previous: previousCursor
      items { ${wireSelection(resource, selection)} }`
}

/** Aliases rename the fields to their wire names. */
function wireSelection(resource: Resource, selection?: Selection): string {
  const { fields, embeds = [] } = selection ?? {}
  const selected = Object.entries(fields ? withLinked(resource, fields) : resource.allFields)
  const members = selected.map(([name, field]) =>
    field.type === 'group'
      ? `${aliased(name)} { ${Object.keys(field.fields).map(aliased).join(' ')} }`
      : aliased(name),
  )
  return [...members, 'version', ...embeds.map(embedSelection)].join(' ')
}

/** Adds the fields that links and headers need. */
function withLinked(resource: Resource, fields: Resource['allFields']): Resource['allFields'] {
  const { allFields, parentField } = resource
  const linked = ['last_updated', parentField, ...referenceLeaves(resource).map(({ column }) => column)]
  return {
    ...Object.fromEntries(Object.entries(allFields).filter(([name]) => linked.includes(name))),
    ...fields,
  }
}

function embedSelection({ name, target, isList }: Embed): string {
  return isList
    ? `${name}(limit: ${DEFAULT_PAGE_SIZE}) { ${pageSelection(target, true)} }`
    : `${name} { ${wireSelection(target)} }`
}

function aliased(name: string): string {
  const field = camelCase(name)
  return field === name ? name : `${name}: ${field}`
}

/** Proxies and clients refuse longer headers, so longer operations are not shown. */
const HEADER_BYTES = 6_000

export function runForRequest(ctx: Context, operation: PreparedOperation, variables: Values) {
  showOperations(ctx, () => ({ query: operation.show(), variables }))
  return operation.run(variables, callerOf(ctx))
}

interface ShownOperation {
  readonly query: string
  readonly variables: Values
}

/**
 * With `Prefer: graphql-operation` (RFC 7240), shows the operations of a request in the header `GraphQL-Operation`, as
 * they could be sent to /graphql: an object or, for a batch, a list. It contains only names and the values that the caller
 * sent.
 */
export function showOperations(ctx: Context, shown: () => ShownOperation | readonly ShownOperation[]): void {
  if (preferencesOf(ctx)['graphql-operation'] === undefined) return
  // Headers are in printable ASCII (RFC 9110 §5.5).
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  const value = JSON.stringify(shown()).replace(/[^ -~]/g, escaped)
  if (value.length > HEADER_BYTES) return
  reportApplied(ctx, 'graphql-operation')
  ctx.set('GraphQL-Operation', value)
}
