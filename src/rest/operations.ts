import type { Prepare, PreparedOperation } from '../graph/execution/operation.ts'
import { camelCase, graphNames, parentArgument, singular } from '../graph/names.ts'
import type { Resource } from '../model/resource.ts'
import type { OperationName } from './resource-paths.ts'

/** The GraphQL operations that the requests on a resource are translated into, one for each. */
export type Operations = Readonly<Record<OperationName, PreparedOperation>>

/** The document of an operation, before it is written. */
interface Draft {
  readonly type: 'query' | 'mutation'
  readonly field: string
  /** The member of the data that holds the result. */
  readonly result: 'resource' | 'list' | 'write'
  /** The types of the arguments that are variables, besides the key of the resource. */
  readonly variables: Readonly<Record<string, string>>
  /** The selected fields, under wire names. */
  readonly selection: string
}

/** Prepares the operations of a resource. No route uses those that it does not have. */
export function resourceOperations(resource: Resource, prepare: Prepare): Operations {
  const names = graphNames(resource)
  const keyed = { ...parentVariable(resource), ...(resource.listed && { id: 'ID!' }) }
  const condition = { ifVersion: '[Int!]', ifUnmodifiedSince: 'DateTime' }
  const version = resource.isVersioned ? { apiVersion: 'ApiVersion' } : {}
  const write = (field: string, variables: Draft['variables']) =>
    prepare(
      documentOf(resource, {
        type: 'mutation',
        result: 'write',
        field,
        variables: { ...variables, ...version },
        selection: `outcome resource: ${singular(resource)} { ${wireSelection(resource)} }`,
      }),
    )
  return {
    list: prepare(listDocument(resource, parentVariable(resource))),
    read: prepare(
      documentOf(resource, {
        type: 'query',
        field: names.read,
        result: 'resource',
        variables: keyed,
        selection: wireSelection(resource),
      }),
    ),
    create: write(names.create, {
      ...parentVariable(resource),
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
    remove: prepare(
      documentOf(resource, {
        type: 'mutation',
        field: names.delete,
        result: 'write',
        variables: { ...keyed, ...condition, strict: 'Boolean!' },
        selection: 'outcome',
      }),
    ),
  }
}

/** Prepares the list of a resource's items that refer to one other resource: /{to}/{id}/{path}. */
export function nestedListOperation(resource: Resource, column: string, prepare: Prepare): PreparedOperation {
  return prepare(listDocument(resource, { parentId: 'ID!' }, camelCase(column)))
}

function listDocument(resource: Resource, parent: Draft['variables'], argument?: string): string {
  const names = graphNames(resource)
  const draft: Draft = {
    type: 'query',
    field: names.page,
    result: 'list',
    variables: {
      ...parent,
      page: 'Int!',
      limit: 'Int!',
      cursor: 'String',
      sort: `[${names.sort}!]!`,
      filter: names.filter,
    },
    selection: `page total_count: totalCount has_more: hasMore next: nextCursor previous: previousCursor
      items { ${wireSelection(resource)} }`,
  }
  return documentOf(resource, draft, argument)
}

function parentVariable({ parentField }: Resource): Draft['variables'] {
  return parentField === undefined ? {} : { parentId: 'ID!' }
}

/**
 * Writes a document. The identifier of the parent is always `$parentId`, as in routes, although the arguments have
 * different names.
 */
function documentOf(resource: Resource, draft: Draft, parent = parentArgument(resource)): string {
  const { type, field, result, selection } = draft
  const variables = Object.entries(draft.variables)
  const declared = variables.map(([name, type]) => `$${name}: ${type}`).join(', ')
  const given = variables.map(([name]) => `${name === 'parentId' ? parent : name}: $${name}`).join(', ')
  return `${type} (${declared}) { ${result}: ${field}(${given}) { ${selection} } }`
}

/** The selection of every field of a resource under its wire name. Aliases rename the fields. */
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
