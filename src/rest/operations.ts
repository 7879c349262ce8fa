import type { Resource } from '../domain/model/resource.ts'
import { nestedListDocument, type RestRequest, restDocuments } from '../graph/documents.ts'
import type { Operation, Prepare } from '../graph/execution/operation.ts'

/** The GraphQL operations that the REST requests on a resource are translated into, one for each. */
export type RestOperations = Readonly<Record<RestRequest, Operation>>

/** Prepares the operations of a resource; those that it does not have are never asked for. */
export function restOperations(
  resource: Resource,
  resources: readonly Resource[],
  prepare: Prepare,
): RestOperations {
  const { list, read, create, put, patch, remove } = restDocuments(resource, resources)
  const prepared = (document: string | undefined) =>
    document === undefined ? unsupported : prepare(document)
  return {
    list: prepared(list),
    read: prepared(read),
    create: prepared(create),
    put: prepared(put),
    patch: prepared(patch),
    remove: prepared(remove),
  }
}

/** Prepares the list of a resource's items that refer to one other resource: /{to}/{id}/{path}. */
export function nestedListOperation(
  resource: Resource,
  resources: readonly Resource[],
  column: string,
  prepare: Prepare,
): Operation {
  return prepare(nestedListDocument(resource, resources, column))
}

const unsupported: Operation = () => {
  throw new TypeError('This resource has no such operation.')
}
