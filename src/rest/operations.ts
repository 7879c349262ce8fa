import { LRUCache } from 'lru-cache'
import type { OperationText, Prepare, PreparedOperation } from '../graph/execution/operation.ts'
import { camelCase, graphNames, parentArgument, singular } from '../graph/names.ts'
import { DEFAULT_PAGE_SIZE } from '../model/query/query.ts'
import { referenceLeaves } from '../model/relations.ts'
import type { Resource, Values } from '../model/resource.ts'
import type { Embed, Selection } from './hal.ts'
import type { OperationName } from './resource-paths.ts'

/** The operation for a selection; without one, that for whole resources. Lists are counted, unless that is false. */
export type SelectOperation = (selection: Selection | undefined, isCounted?: boolean) => PreparedOperation

export type Operations = Readonly<Record<Exclude<OperationName, 'list' | 'read'>, PreparedOperation>> &
  Readonly<Record<'list' | 'read', SelectOperation>>

interface Draft extends Omit<OperationText, 'text'> {
  /** The member of the data with the result. */
  readonly result: 'resource' | 'list' | 'write'
  /** The arguments, which are all variables, with their types. */
  readonly variables: Readonly<Record<string, string>>
  /** The selected fields, under wire names. */
  readonly selection: string
}

/** Prepares the operations of a resource, including some that no route may use. */
export function resourceOperations(resource: Resource, prepare: Prepare): Operations {
  const names = graphNames(resource)
  const parent: Draft['variables'] = resource.parentField === undefined ? {} : { parentId: 'ID!' }
  const keyed = { ...parent, ...(resource.listed && { id: 'ID!' }) }
  const condition = { ifVersion: '[Int!]', ifUnmodifiedSince: 'DateTime' }
  const version = versionOf(resource)
  const selection = wireSelection(resource)
  const make = (draft: Draft) => prepare(written(resource, draft))
  const write = (name: string, variables: Draft['variables']) =>
    make({
      type: 'mutation',
      name,
      result: 'write',
      variables: { ...variables, ...version },
      selection: `outcome resource: ${singular(resource)} { ${selection} }`,
    })
  return {
    list: selecting(prepare, (...options) => written(resource, listDraft(resource, parent, ...options))),
    read: selecting(prepare, (selected) => {
      const variables = keyed
      const selection = wireSelection(resource, selected)
      return written(resource, { type: 'query', name: names.read, result: 'resource', variables, selection })
    }),
    create: write(names.create, {
      ...parent,
      input: `${names.input}!`,
      idempotencyKey: 'String',
      otherThan: 'ID',
    }),
    put: write(names.put, {
      ...keyed,
      input: `${names.input}!`,
      readOnly: names.readOnlyInput,
      ...condition,
      mayCreate: 'Boolean!',
      mayReplace: 'Boolean!',
    }),
    patch: write(names.patch, {
      ...keyed,
      patch: `${names.patchInput}!`,
      readOnly: names.readOnlyInput,
      ...condition,
    }),
    remove: make({
      type: 'mutation',
      name: names.delete,
      result: 'write',
      variables: { ...keyed, ...condition, strict: 'Boolean!' },
      selection: 'outcome',
    }),
  }
}

/** Prepares the list of a resource's items that refer to one other resource: /{to}/{id}/{path}. */
export function nestedListOperation(resource: Resource, column: string, prepare: Prepare): SelectOperation {
  return selecting(prepare, (...options) =>
    written(resource, listDraft(resource, { parentId: 'ID!' }, ...options), camelCase(column)),
  )
}

/** For each resource. Callers who vary what they request must not fill the memory. */
const MAXIMUM_SELECTIONS = 20

type Write = (...options: Parameters<SelectOperation>) => OperationText

/** Prepares the operation for whole resources, and keeps the others that were requested last. */
function selecting(prepare: Prepare, write: Write): SelectOperation {
  const whole = prepare(write(undefined))
  const kept = new LRUCache<string, PreparedOperation>({ max: MAXIMUM_SELECTIONS })
  return (selection, isCounted = true) => {
    if (!selection && isCounted) return whole
    const operation = write(selection, isCounted)
    const text = operation.text as string
    const prepared = kept.get(text) ?? prepare(operation)
    kept.set(text, prepared)
    return prepared
  }
}

/** Lists and writes of a resource in a version of the API have its version as a variable. */
function versionOf({ isVersioned }: Resource): Draft['variables'] {
  return isVersioned ? { apiVersion: 'ApiVersion' } : {}
}

export function versionVariable({ apiVersion }: Resource): Values {
  return apiVersion === undefined ? {} : { apiVersion }
}

function listDraft(
  resource: Resource,
  parent: Draft['variables'],
  ...[selection, isCounted = true]: Parameters<SelectOperation>
): Draft {
  const names = graphNames(resource)
  return {
    type: 'query',
    name: names.page,
    result: 'list',
    variables: {
      ...parent,
      page: 'Int!',
      limit: 'Int!',
      cursor: 'String',
      sort: `[${names.sort}!]!`,
      filter: names.filter,
      search: 'String',
      unlessRevision: 'String',
      ...versionOf(resource),
    },
    selection: `revision ${pageSelection(resource, isCounted, selection)}`,
  }
}

function pageSelection(resource: Resource, isCounted: boolean, selection?: Selection): string {
  return `page ${isCounted ? 'total_count: totalCount ' : ''}has_more: hasMore next: nextCursor previous: previousCursor
      items { ${wireSelection(resource, selection)} }`
}

/**
 * Writes an operation as text. The variable for the parent is always `$parentId`, as in routes, although the names of
 * the arguments differ.
 */
function written(resource: Resource, draft: Draft, parent = parentArgument(resource)): OperationText {
  const { type, name, result, selection } = draft
  const variables = Object.entries(draft.variables)
  const declared = variables.map(([variable, of]) => `$${variable}: ${of}`).join(', ')
  const given = variables
    .map(([variable]) => `${variable === 'parentId' ? parent : variable}: $${variable}`)
    .join(', ')
  const text = `${type} (${declared}) { ${result}: ${name}(${given}) { ${selection} } }`
  return { type, name, text }
}

/** Selects the fields of a resource, and what is embedded. Aliases rename the fields to their wire names. */
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

/** Adds what links and headers are made of. */
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
