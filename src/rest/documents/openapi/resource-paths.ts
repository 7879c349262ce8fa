import { identifierField, type Resource } from '../../../domain/model/resource.ts'
import { pascalCase } from '../../../graph/names.ts'
import { METHODS, type OperationName, resourcePaths } from '../../resource-paths.ts'
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

const OPERATIONS: Readonly<Record<OperationName, (described: Described) => Schema>> = {
  list: listOperation,
  read: readOperation,
  create: createOperation,
  put: putOperation,
  patch: patchOperation,
  remove: deleteOperation,
}

/** The paths of a resource (SPEC §4), below `{base}`. */
export function resourcePathItems(
  resource: Resource,
  resources: readonly Resource[],
  examples: ResourceExamples,
): Record<string, Schema> {
  const items = resourcePaths(resource, resources).map(({ path, parent, operations, column }) => {
    const plural = `${column === undefined ? '' : parent?.name}${pascalCase(resource.path)}`
    const described = { resource, examples, parent, plural }
    const parameters = [
      ...(parent ? [parentParameter(parent)] : []),
      ...(path.endsWith(':id') ? [idParameter(resource)] : []),
    ]
    return [
      templateOf(path, parent),
      {
        ...(parameters.length > 0 && { parameters }),
        ...Object.fromEntries(
          operations.map((name) => [METHODS[name].toLowerCase(), OPERATIONS[name](described)]),
        ),
      },
    ]
  })
  return Object.fromEntries(items)
}

/** The path with its parameters as OpenAPI writes them. */
function templateOf(path: string, parent: Resource | undefined): string {
  return path.replace(':parentId', parent ? `{${identifierField(parent)}}` : '').replace(':id', '{id}')
}
