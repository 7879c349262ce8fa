import { nestedReferences } from '../../../domain/model/relations.ts'
import { identifierField, type Resource } from '../../../domain/model/resource.ts'
import { pascalCase } from '../../../graph/names.ts'
import { createOperation, listOperation } from './collection-operations.ts'
import type { ResourceExamples } from './examples.ts'
import type { Schema } from './field-schema.ts'
import { deleteOperation, patchOperation, putOperation, readOperation } from './item-operations.ts'
import { idParameter, parentParameter } from './parameters.ts'

/** What the operations of a resource are described from. */
export interface Described {
  readonly resource: Resource
  readonly examples: ResourceExamples
  /** The parent in the path, where there is one. */
  readonly parent: Resource | undefined
  /** The last part of the identifiers of its operations: `Species`, `PlanetSpecies`. */
  readonly plural: string
}

/** The paths of a resource (SPEC §4), below `{base}`. The same rules as make the routes. */
export function resourcePaths(
  resource: Resource,
  resources: readonly Resource[],
  examples: ResourceExamples,
): Record<string, Schema> {
  const { listed, replaceable } = resource
  const { owner } = resource
  const described: Described = { resource, examples, parent: owner, plural: pascalCase(resource.path) }
  const parents = owner ? [parentParameter(owner)] : []
  const collection = owner ? `${parentPath(owner)}/${resource.path}` : `/${resource.path}`
  return {
    ...(listed && {
      [collection]: {
        ...(owner && { parameters: parents }),
        get: listOperation(described),
        post: createOperation(described),
      },
    }),
    [listed ? `${collection}/{id}` : collection]: {
      parameters: [...parents, ...(listed ? [idParameter(resource)] : [])],
      get: readOperation(described),
      ...(replaceable && { put: putOperation(described), patch: patchOperation(described) }),
      delete: deleteOperation(described),
    },
    ...nestedPaths(described, resources),
  }
}

/** The lists of a resource's items that refer to one other resource (SPEC §2.5.1). */
function nestedPaths(described: Described, resources: readonly Resource[]): Record<string, Schema> {
  const { resource } = described
  const paths = nestedReferences(resource).flatMap(({ field }) => {
    const parent = resources.find(({ path }) => path === field.to)
    if (!parent) return []
    const nested = { ...described, parent, plural: `${parent.name}${described.plural}` }
    const item = { parameters: [parentParameter(parent)], get: listOperation(nested) }
    return [[`${parentPath(parent)}/${resource.path}`, item]]
  })
  return Object.fromEntries(paths)
}

function parentPath(parent: Resource): string {
  return `/${parent.path}/{${identifierField(parent)}}`
}
