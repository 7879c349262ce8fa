import { HEADER_NAMES } from '../http/headers.ts'
import { referenceLeaves } from '../model/definition/relations.ts'
import type { Resource } from '../model/definition/resource.ts'
import { hasOperation, type ResourceOperation, type ResourcePath } from './operation.ts'
import { create } from './operations/create.ts'
import { list } from './operations/list.ts'
import { patch } from './operations/patch.ts'
import { put } from './operations/put.ts'
import { read } from './operations/read.ts'
import { remove } from './operations/remove.ts'
import type { ReadOperation } from './operations/resource-parts.ts'
import type { WriteOperation } from './operations/write.ts'

export const WRITES: readonly WriteOperation[] = [create, put, patch, remove]

/** Those of the specification. */
export const RESOURCE_OPERATIONS: readonly CollectionOperation[] = [list, create, read, put, patch, remove]

/** An operation on the resources of each collection. */
export type CollectionOperation = ReadOperation | WriteOperation

/** A batch has the other headers for all of them. */
export const OPERATION_HEADERS = [
  ...new Set([
    'content-type',
    ...WRITES.flatMap(({ headers = [] }) => headers.map((header) => HEADER_NAMES[header].toLowerCase())),
  ]),
].sort()

export interface ServedPath extends ResourcePath {
  readonly operations: readonly CollectionOperation[]
}

/** SPEC §4. */
export function resourcePaths(
  resource: Resource,
  resources: readonly Resource[],
  all: readonly CollectionOperation[] = RESOURCE_OPERATIONS,
): ServedPath[] {
  const { listed, path: name, owner: parent } = resource
  const collection = parent ? `/${parent.path}/:parentId/${name}` : `/${name}`
  const addresses = { collection, resource: listed ? `${collection}/:id` : collection }
  const operations = all.filter((operation) => hasOperation(resource, operation))
  const pathOf = ({ at, below = '' }: ResourceOperation) => addresses[at] + below
  const paths = [...new Set(operations.map(pathOf))].map((path) => {
    return { path, parent, operations: operations.filter((operation) => pathOf(operation) === path) }
  })
  // A nested reference is also a list below its target (SPEC §2.5.1).
  const lists = referenceLeaves(resource).flatMap(({ column, field }): ServedPath[] => {
    const target = field.nested && resources.find(({ path }) => path === field.to)
    if (!target) return []
    return [{ path: `/${target.path}/:parentId/${name}`, parent: target, operations: [list], column }]
  })
  return [...paths, ...lists]
}
