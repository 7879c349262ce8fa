import type { OperationText, Prepare, PreparedOperation } from '../graph/execution/operation.ts'
import { camelCase, graphNames, parentArgument, singular } from '../graph/names.ts'
import type { Resource } from '../model/resource.ts'
import type { OperationName } from './resource-paths.ts'

export type Operations = Readonly<Record<OperationName, PreparedOperation>>

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
    list: make(listDraft(resource, parent)),
    read: make({ type: 'query', name: names.read, result: 'resource', variables: keyed, selection }),
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
export function nestedListOperation(resource: Resource, column: string, prepare: Prepare): PreparedOperation {
  return prepare(written(resource, listDraft(resource, { parentId: 'ID!' }), camelCase(column)))
}

function versionOf({ isVersioned }: Resource): Draft['variables'] {
  return isVersioned ? { apiVersion: 'ApiVersion' } : {}
}

function listDraft(resource: Resource, parent: Draft['variables']): Draft {
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
      ...versionOf(resource),
    },
    selection: `page total_count: totalCount has_more: hasMore next: nextCursor previous: previousCursor
      items { ${wireSelection(resource)} }`,
  }
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

/** Selects every field of a resource. Aliases rename the fields to their wire names. */
function wireSelection({ allFields }: Resource): string {
  const fields = Object.entries(allFields).map(([name, field]) =>
    field.type === 'group'
      ? `${aliased(name)} { ${Object.keys(field.fields).map(aliased).join(' ')} }`
      : aliased(name),
  )
  return [...fields, 'version'].join(' ')
}

function aliased(name: string): string {
  const field = camelCase(name)
  return field === name ? name : `${name}: ${field}`
}
