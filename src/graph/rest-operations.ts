import { print } from 'graphql'
import type { Resource } from '../domain/model/resource.ts'
import type { Operation, Prepare } from './execution/operation.ts'
import { camelCase, parentArgument } from './names.ts'
import { mutations } from './schema/mutations.ts'
import type { OperationField, RestRequest } from './schema/operations.ts'
import { queries } from './schema/queries.ts'
import { definitionOf } from './schema/sdl.ts'

/** The GraphQL operations that the REST requests on a resource are translated into, one for each. */
export type RestOperations = Readonly<Record<RestRequest, Operation>>

/** Prepares the operations of a resource. Those that it does not have are undefined; no route uses them. */
export function restOperations(
  resource: Resource,
  resources: readonly Resource[],
  prepare: Prepare,
): RestOperations {
  const fields = [...queries(resource, resources), ...mutations(resource)]
  const parent = parentArgument(resource)
  return Object.fromEntries(
    fields.flatMap((field) =>
      field.rest ? [[field.rest.request, prepare(documentOf(field, field.rest, parent))]] : [],
    ),
  ) as RestOperations
}

/** Prepares the list of a resource's items that refer to one other resource: /{to}/{id}/{path}. */
export function nestedListOperation(
  resource: Resource,
  resources: readonly Resource[],
  column: string,
  prepare: Prepare,
): Operation {
  const [list] = queries(resource, resources).flatMap((field) =>
    field.rest?.request === 'list' ? [documentOf(field, field.rest, camelCase(column))] : [],
  )
  return prepare(list as string)
}

/**
 * The document of an operation. The identifier of the parent is always `$parentId`, as in routes, although
 * the arguments have different names.
 */
function documentOf(
  field: OperationField,
  { root, result, variables, selection }: NonNullable<OperationField['rest']>,
  parent: string | undefined,
): string {
  const { name, arguments: args = [] } = definitionOf(field)
  const types = new Map(args.map((argument) => [argument.name.value, print(argument.type)]))
  const declared = variables.map((argument) => `$${argument}: ${types.get(argument)}`)
  const given = variables.map((argument) => `${argument}: $${argument}`)
  if (parent !== undefined) {
    declared.unshift('$parentId: ID!')
    given.unshift(`${parent}: $parentId`)
  }
  return `${root} (${declared.join(', ')}) { ${result}: ${name.value}(${given.join(', ')}) { ${selection} } }`
}
