import { operationsOf } from '../domain/model/operations.ts'
import { ownedBy } from '../domain/model/relations.ts'
import type { Resource } from '../domain/model/resource.ts'
import type { Operation, Prepare } from '../graph/execution/operation.ts'
import { camelCase, graphNames, parentArgument, pascalCase, singular } from '../graph/names.ts'

/** The GraphQL operations that the REST requests on a resource are translated into, one for each. */
export interface RestOperations {
  readonly list: Operation
  readonly read: Operation
  readonly create: Operation
  readonly put: Operation
  readonly patch: Operation
  readonly remove: Operation
}

/** Prepares the operations of a resource; those that it does not have are never asked for. */
export function restOperations(
  resource: Resource,
  resources: readonly Resource[],
  prepare: Prepare,
): RestOperations {
  const { listed, replaceable } = operationsOf(resource)
  const documents = writeDocuments(resource)
  const prepared = (exists: boolean, document: string) => (exists ? prepare(document) : unsupported)
  return {
    list: prepared(listed, listDocument(resource)),
    read: prepare(readDocument(resource, resources)),
    create: prepared(listed, documents.create),
    put: prepared(replaceable, documents.put),
    patch: prepared(replaceable, documents.patch),
    remove: prepare(documents.remove),
  }
}

/** Prepares the list of a resource's items that refer to one other resource: /{to}/{id}/{path}. */
export function nestedListOperation(resource: Resource, column: string, prepare: Prepare): Operation {
  return prepare(listDocument(resource, camelCase(column)))
}

const PAGE_ARGUMENTS = 'page: $page, limit: $limit, cursor: $cursor, sort: $sort, filter: $filter'

function pageVariables(sort: string, filter: string): string {
  return `$page: Int!, $limit: Int!, $cursor: String, $sort: [${sort}!]!, $filter: ${filter}`
}

function pageSelection(resource: Resource): string {
  return `total_count: totalCount has_more: hasMore next: nextCursor previous: previousCursor items { ${selection(resource)} }`
}

function listDocument(resource: Resource, parent = parentArgument(resource)): string {
  const { page, sort, filter } = graphNames(resource)
  const [variable, argument] = parent ? ['$parentId: ID!, ', `${parent}: $parentId, `] : ['', '']
  return `query (${variable}${pageVariables(sort, filter)}) {
    list: ${page}(${argument}${PAGE_ARGUMENTS}) { ${pageSelection(resource)} }
  }`
}

function readDocument(resource: Resource, resources: readonly Resource[]): string {
  const { variables, args } = addressParts(resource)
  const singletons = ownedBy(resource, resources).filter((child) => !operationsOf(child).listed)
  const presence = singletons.map(({ path }) => `has_${path}: has${pascalCase(path)}`)
  return `query (${variables}) {
    resource: ${graphNames(resource).read}(${args}) { ${selection(resource)} ${presence.join(' ')} }
  }`
}

function writeDocuments(resource: Resource) {
  const names = graphNames(resource)
  const { variable, argument } = parentParts(resource)
  const { variables, args } = addressParts(resource)
  const condition = `$readOnly: ${names.readOnlyInput}, $ifVersion: [Int!]`
  const conditionArguments = 'readOnly: $readOnly, ifVersion: $ifVersion'
  const payload = `outcome resource: ${singular(resource)} { ${selection(resource)} }`
  return {
    create: `mutation (${variable}$input: ${names.input}!, $idempotencyKey: String) {
      write: ${names.create}(${argument}input: $input, idempotencyKey: $idempotencyKey) { ${payload} }
    }`,
    put: `mutation (${variables}, $input: ${names.input}!, ${condition}, $mayCreate: Boolean!, $mayReplace: Boolean!) {
      write: ${names.put}(${args}, input: $input, ${conditionArguments}, mayCreate: $mayCreate, mayReplace: $mayReplace) {
        ${payload}
      }
    }`,
    patch: `mutation (${variables}, $patch: ${names.patchInput}!, ${condition}) {
      write: ${names.patch}(${args}, patch: $patch, ${conditionArguments}) { ${payload} }
    }`,
    remove: `mutation (${variables}, $ifVersion: [Int!], $strict: Boolean!) {
      write: ${names.delete}(${args}, ifVersion: $ifVersion, strict: $strict) { outcome }
    }`,
  }
}

/** Every field under its wire name: an alias does the renaming, so the document is the mapping. */
function selection(resource: Resource): string {
  const fields = Object.entries(resource.allFields).map(([name, field]) => {
    if (field.type !== 'group') return aliased(name)
    return `${aliased(name)} { ${Object.keys(field.fields).map(aliased).join(' ')} }`
  })
  return [...fields, 'version'].join(' ')
}

function aliased(name: string): string {
  const field = camelCase(name)
  return field === name ? name : `${name}: ${field}`
}

function parentParts(resource: Resource) {
  const parent = parentArgument(resource)
  return parent
    ? { variable: '$parentId: ID!, ', argument: `${parent}: $parentId, ` }
    : { variable: '', argument: '' }
}

function addressParts(resource: Resource) {
  const { variable, argument } = parentParts(resource)
  if (resource.kind === 'singleton')
    return { variables: '$parentId: ID!', args: `${parentArgument(resource)}: $parentId` }
  return { variables: `${variable}$id: ID!`, args: `${argument}id: $id` }
}

const unsupported: Operation = () => {
  throw new TypeError('This resource has no such operation.')
}
