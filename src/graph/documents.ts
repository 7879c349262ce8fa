import type { Resource } from '../domain/model/resource.ts'
import { camelCase, parentArgument } from './names.ts'
import { mutations } from './schema/mutations.ts'
import type { OperationField, RestRequest } from './schema/operations.ts'
import { queries } from './schema/queries.ts'

export type { RestRequest }

/** The document that a request of REST on a resource is translated into; undefined where there is none. */
export type RestDocuments = Readonly<Partial<Record<RestRequest, string>>>

/** The documents of all requests on a resource, and of none that it does not have. */
export function restDocuments(resource: Resource, resources: readonly Resource[]): RestDocuments {
  const parent = parentArgument(resource)
  return Object.fromEntries([
    ...documents('query', queries(resource, resources), parent),
    ...documents('mutation', mutations(resource), parent),
  ])
}

/** The document that lists the resources that refer to one other, by the column that does: /{to}/{id}/{path}. */
export function nestedListDocument(
  resource: Resource,
  resources: readonly Resource[],
  column: string,
): string {
  const lists = queries(resource, resources).filter(({ rest }) => rest?.request === 'list')
  return documents('query', lists, camelCase(column))[0]?.[1] as string
}

/**
 * One document for each operation that REST uses. The identifier of the parent is `$parentId`, whatever the
 * name of its argument, since routes have it under that name.
 */
function documents(
  root: 'query' | 'mutation',
  operations: readonly OperationField[],
  parent: string | undefined,
): [RestRequest, string][] {
  return operations.flatMap(({ name, arguments: args, rest }): [RestRequest, string][] => {
    if (!rest) return []
    const typeOf = (argument: string) => args.find((one) => one.name === argument)?.type
    const variables = [
      ...(parent === undefined ? [] : [{ argument: parent, variable: 'parentId', type: 'ID!' }]),
      ...rest.variables.map((argument) => ({ argument, variable: argument, type: typeOf(argument) })),
    ]
    const declared = variables.map(({ variable, type }) => `$${variable}: ${type}`).join(', ')
    const given = variables.map(({ argument, variable }) => `${argument}: $${variable}`).join(', ')

    const text = `${root} (${declared}) { ${rest.result}: ${name}(${given}) { ${rest.selection} } }`
    return [[rest.request, text]]
  })
}
