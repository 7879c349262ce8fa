import { LRUCache } from 'lru-cache'
import type { Executor, OperationText, PreparedOperation } from '../graph/execution/operation.ts'
import { camelCase, graphNames, isTitled, parentArgument, singular } from '../graph/names.ts'
import { callerOf } from '../http/auth/authenticate.ts'
import type { Context } from '../http/context.ts'
import { preferencesOf, reportApplied } from '../http/negotiation.ts'
import { hidesRows } from '../model/access/access.ts'
import { definedName, type Field } from '../model/definition/fields.ts'
import { referenceLeaves } from '../model/definition/relations.ts'
import type { Resource, Values } from '../model/definition/resource.ts'
import { type Embed, type Selection, TITLE } from './hal.ts'

/** Without a selection, the operation is for whole resources. Lists are counted by default. */
export type SelectOperation = (selection: Selection | undefined, isCounted?: boolean) => PreparedOperation

/** For each resource. Bounds the memory that varying requests can fill. */
const MAXIMUM_SELECTIONS = 20

/** The types of variables by name. Each is the argument of that name. */
type Variables = Readonly<Record<string, string>>

/** The variables of a precondition. */
export const CONDITION: Variables = {
  ifVersion: '[Int!]',
  ifUnmodifiedSince: 'DateTime',
  unlessVersion: '[Int!]',
  unlessExists: 'Boolean',
}

/** The field of a mutation. */
export interface Mutation {
  readonly name: 'create' | 'put' | 'patch' | 'delete'
  /** Besides the identifiers. */
  variables(names: ReturnType<typeof graphNames>): Variables
  readonly selects: 'resource' | 'outcome'
}

export function writeOperation(
  resource: Resource,
  at: 'collection' | 'resource',
  { name, variables, selects }: Mutation,
  prepare: Executor['prepare'],
): PreparedOperation {
  const names = graphNames(resource)
  const all = { ...(at === 'collection' ? parentKey(resource) : key(resource)), ...variables(names) }
  if (selects === 'outcome') return prepare(text(resource, 'mutation', names[name], 'write', all, 'outcome'))
  const readable = hidesRows(resource) ? 'isReadable ' : ''
  const selection = `outcome ${readable}resource: ${singular(resource)} { ${wireSelection(resource)} }`
  return prepare(
    text(resource, 'mutation', names[name], 'write', { ...all, ...apiVersion(resource) }, selection),
  )
}

export function readOperation(resource: Resource, prepare: Executor['prepare']): SelectOperation {
  const { read } = graphNames(resource)
  return selecting(prepare, (selected) =>
    text(resource, 'query', read, 'resource', key(resource), wireSelection(resource, selected)),
  )
}

/**
 * @param column for /{parent}/{id}/{path}, the column of the resources that refer to the parent
 * @param selected what the links in headers need of the page
 */
export function listOperation(
  resource: Resource,
  prepare: Executor['prepare'],
  column?: string,
  selected: readonly string[] = [],
): SelectOperation {
  const names = graphNames(resource)
  const variables = {
    ...(column === undefined ? parentKey(resource) : { parentId: 'ID!' }),
    page: 'Int!',
    limit: 'Int!',
    cursor: 'String',
    sort: `[${names.sort}!]!`,
    filter: names.filter,
    search: 'String',
    unlessRevision: 'String',
    ...apiVersion(resource),
  }
  const parent = column === undefined ? undefined : camelCase(column)
  return selecting(prepare, (selection, isCounted = true) => {
    const members = ['revision', ...selected, pageSelection(resource, isCounted, selection)]
    const operation = text(resource, 'query', names.page, 'list', variables, members.join(' '), parent)
    return { ...operation, sizedBy: 'limit' }
  })
}

function parentKey({ parentField }: Resource): Variables {
  return parentField === undefined ? {} : { parentId: 'ID!' }
}

function key(resource: Resource): Variables {
  return { ...parentKey(resource), ...(resource.listed && { id: 'ID!' }) }
}

function apiVersion({ hasApiVersions }: Resource): Variables {
  return hasApiVersions ? { apiVersion: 'ApiVersion' } : {}
}

/** The parent is always the variable `$parentId`, as in routes, although the names of the arguments differ. */
function text(
  resource: Resource,
  type: OperationText['type'],
  name: string,
  result: 'resource' | 'list' | 'write',
  variables: Variables,
  selection: string,
  parent = parentArgument(resource),
): OperationText {
  const names = Object.keys(variables)
  const declared = names.map((variable) => `$${variable}: ${variables[variable]}`)
  const passed = names.map((variable) => `${variable === 'parentId' ? parent : variable}: $${variable}`)
  const field = `${result}: ${name}(${passed.join(', ')})`
  return { type, name, text: `${type} (${declared.join(', ')}) { ${field} { ${selection} } }` }
}

/** Prepares the operation for whole resources, and keeps the most recently used of the others. */
function selecting(
  prepare: Executor['prepare'],
  write: (...options: Parameters<SelectOperation>) => OperationText,
): SelectOperation {
  const whole = prepare(write(undefined))
  const kept = new LRUCache<string, PreparedOperation>({ max: MAXIMUM_SELECTIONS })
  const select: SelectOperation = (selection, isCounted = true) => {
    if (!selection && isCounted) return whole
    const operation = write(selection, isCounted)
    const prepared =
      kept.get(operation.text) ??
      prepare({ ...operation, wider: selection?.fields && select(withAllFields(selection), isCounted) })
    kept.set(operation.text, prepared)
    return prepared
  }
  return select
}

/** Undefined for whole resources without anything embedded. */
export function withAllFields(selection: Selection | undefined): Selection | undefined {
  return selection?.embeds && { ...selection, fields: undefined }
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
      ? `${aliased(name, field)} { ${Object.keys(field.fields)
          .map((member) => aliased(member))
          .join(' ')} }`
      : aliased(name, field),
  )
  const title = isTitled(resource) ? [`${TITLE}: displayName`] : []
  return [...members, ...title, 'version', ...embeds.map(embedSelection)].join(' ')
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

function embedSelection({ name, target, isList, pageSize }: Embed): string {
  return isList
    ? `${name}(limit: ${pageSize}) { ${pageSelection(target, true)} }`
    : `${name} { ${wireSelection(target)} }`
}

function aliased(name: string, defined?: Field): string {
  const field = camelCase(defined ? definedName(name, defined) : name)
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
