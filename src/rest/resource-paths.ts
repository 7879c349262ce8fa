import { nestedReferences } from '../model/relations.ts'
import type { Resource } from '../model/resource.ts'

/** The operations of a resource, by the names of their handlers and of their entries in OpenAPI. */
export type OperationName = 'list' | 'read' | 'create' | 'put' | 'patch' | 'remove'

/** The method of each operation. */
export const METHODS = {
  list: 'GET',
  read: 'GET',
  create: 'POST',
  put: 'PUT',
  patch: 'PATCH',
  remove: 'DELETE',
} as const satisfies Record<OperationName, string>

/** A path of a resource, and the operations there. Routes and the OpenAPI document are both made of it. */
export interface ResourcePath {
  readonly resource: Resource
  /** Below `{base}`, with the parameters `:parentId` and `:id`. */
  readonly path: string
  /** The resource that `:parentId` identifies. */
  readonly parent: Resource | undefined
  readonly operations: readonly OperationName[]
  /** Of a list of the resources that refer to the parent: the column that does. */
  readonly column?: string
}

/** The paths of a resource (SPEC §4): its collection, its items, and its lists within other resources. */
export function resourcePaths(resource: Resource, resources: readonly Resource[]): ResourcePath[] {
  const { listed, replaceable } = resource
  const { owner: parent } = resource
  const collection = parent ? within(parent, resource) : `/${resource.path}`
  const lists = nestedReferences(resource).flatMap(({ column, field }): ResourcePath[] => {
    const target = resources.find(({ path }) => path === field.to)
    return target
      ? [{ resource, path: within(target, resource), parent: target, operations: ['list'], column }]
      : []
  })
  return [
    ...(listed
      ? [{ resource, path: collection, parent, operations: ['list', 'create'] } satisfies ResourcePath]
      : []),
    {
      resource,
      path: listed ? `${collection}/:id` : collection,
      parent,
      operations: replaceable ? ['read', 'put', 'patch', 'remove'] : ['read', 'remove'],
    },
    ...lists,
  ]
}

function within(parent: Resource, { path }: Resource): string {
  return `/${parent.path}/:parentId/${path}`
}
