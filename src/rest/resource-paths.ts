import { nestedReferences } from '../model/relations.ts'
import type { Resource } from '../model/resource.ts'

/** The requests on a resource. Handlers, operations and OpenAPI entries have these names. */
export type OperationName = 'list' | 'read' | 'create' | 'put' | 'patch' | 'remove'

export const OPERATION_METHODS = {
  list: 'GET',
  read: 'GET',
  create: 'POST',
  put: 'PUT',
  patch: 'PATCH',
  remove: 'DELETE',
} as const satisfies Record<OperationName, string>

export interface ResourcePath {
  /** Below `{base}`, with the parameters `:parentId` and `:id`. */
  readonly path: string
  /** The resource that `:parentId` identifies. */
  readonly parent: Resource | undefined
  readonly operations: readonly OperationName[]
  /** For a list of resources that refer to the parent: the referring column. */
  readonly column?: string
}

/** The paths of a resource (SPEC §4): its collection, its items, and its lists within other resources. */
export function resourcePaths(resource: Resource, resources: readonly Resource[]): ResourcePath[] {
  const { listed, replaceable, owner: parent } = resource
  const collection = parent ? within(parent, resource) : `/${resource.path}`
  const lists = nestedReferences(resource).flatMap(({ column, field }): ResourcePath[] => {
    const target = resources.find(({ path }) => path === field.to)
    return target ? [{ path: within(target, resource), parent: target, operations: ['list'], column }] : []
  })
  const one: ResourcePath = {
    path: listed ? `${collection}/:id` : collection,
    parent,
    operations: replaceable ? ['read', 'put', 'patch', 'remove'] : ['read', 'remove'],
  }
  return listed
    ? [{ path: collection, parent, operations: ['list', 'create'] }, one, ...lists]
    : [one, ...lists]
}

function within(parent: Resource, { path }: Resource): string {
  return `/${parent.path}/:parentId/${path}`
}
