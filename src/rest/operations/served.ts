import { nestedReferences } from '../../model/relations.ts'
import type { Resource } from '../../model/resource.ts'
import { batch } from '../batch.ts'
import { changes } from '../changes/feed.ts'
import { version, versions } from '../changes/versions.ts'
import { create } from './create.ts'
import { entry } from './entry.ts'
import { list } from './list.ts'
import { hasOperation, type ResourceOperation, type ServiceOperation } from './operation.ts'
import { patch } from './patch.ts'
import { put } from './put.ts'
import { read } from './read.ts'
import { remove } from './remove.ts'

export const RESOURCE_OPERATIONS: readonly ResourceOperation[] = [
  list,
  create,
  read,
  put,
  patch,
  remove,
  versions,
  version,
]

export const SERVICE_OPERATIONS: readonly ServiceOperation[] = [entry, batch, changes]

export interface ResourcePath {
  /** Below `{base}`, with the parameters `:parentId` and `:id`. */
  readonly path: string
  /** The resource that `:parentId` identifies. */
  readonly parent: Resource | undefined
  readonly operations: readonly ResourceOperation[]
  /** For a list of resources that refer to the parent, the referring column. */
  readonly column?: string
}

/** SPEC §4. */
export function resourcePaths(resource: Resource, resources: readonly Resource[]): ResourcePath[] {
  const { listed, path: name, owner: parent } = resource
  const collection = parent ? `/${parent.path}/:parentId/${name}` : `/${name}`
  const addresses = { collection, resource: listed ? `${collection}/:id` : collection }
  const operations = RESOURCE_OPERATIONS.filter((operation) => hasOperation(resource, operation))
  const pathOf = ({ at, below = '' }: ResourceOperation) => addresses[at] + below
  const paths = [...new Set(operations.map(pathOf))].map((path) => {
    return { path, parent, operations: operations.filter((operation) => pathOf(operation) === path) }
  })
  const lists = nestedReferences(resource).flatMap(({ column, field }): ResourcePath[] => {
    const target = resources.find(({ path }) => path === field.to)
    if (!target) return []
    return [{ path: `/${target.path}/:parentId/${name}`, parent: target, operations: [list], column }]
  })
  return [...paths, ...lists]
}
