import { nestedReferences, relationsOf } from '../../domain/model/relations.ts'
import type { Resource } from '../../domain/model/resource.ts'
import { readResource } from '../../domain/read.ts'
import { requireScope } from '../execution/context.ts'
import { camelCase, graphNames, parentArgument, wireSelection } from '../names.ts'
import { aggregateArguments, aggregateResolver } from './aggregates.ts'
import { connectionArguments, resolveConnection } from './connections.ts'
import type { ListSource } from './lists.ts'
import {
  addressArguments,
  addressVariables,
  type KeyArguments,
  keyReader,
  type OperationField,
  parentArguments,
} from './operations.ts'
import { pageArguments, resolvePage } from './pages.ts'

/** The operations that read a resource. Each is nullable, so that one error does not affect the others. */
export function queries(resource: Resource, resources: readonly Resource[]): OperationField[] {
  const lists = resource.listed ? [page(resource, resources), connection(resource, resources)] : []
  return [read(resource), ...lists, aggregate(resource)]
}

function read(resource: Resource): OperationField {
  const keyOf = keyReader(resource)
  return {
    sdl: `"One of ${resource.path}; an error with RESOURCE_NOT_FOUND or RESOURCE_GONE where there is none."
      ${graphNames(resource).read}(${addressArguments(resource)}): ${resource.name}`,
    resolve: (_, args, context) => {
      requireScope(context, resource, 'read')
      return readResource(context.reader, resource, keyOf(args))
    },
    rest: {
      request: 'read',
      root: 'query',
      result: 'resource',
      variables: addressVariables(resource),
      selection: wireSelection(resource),
    },
  }
}

function page(resource: Resource, resources: readonly Resource[]): OperationField {
  const { page: name, pageType } = graphNames(resource)
  return {
    sdl: `"A page of ${resource.path}."
      ${name}(${listParents(resource)}${pageArguments(resource)}): ${pageType}`,
    lists: resource,
    resolve: (_, args, context, info) =>
      resolvePage(sourceOf(resource, resources, args), args, context, info),
    rest: {
      request: 'list',
      root: 'query',
      result: 'list',
      variables: ['page', 'limit', 'cursor', 'sort', 'filter'],
      selection: `page total_count: totalCount has_more: hasMore next: nextCursor previous: previousCursor
        items { ${wireSelection(resource)} }`,
    },
  }
}

function connection(resource: Resource, resources: readonly Resource[]): OperationField {
  const { connection: name, connectionType } = graphNames(resource)
  return {
    sdl: `"A part of ${resource.path}, by cursors."
      ${name}(${listParents(resource)}${connectionArguments(resource)}): ${connectionType}`,
    lists: resource,
    resolve: (_, args, context, info) =>
      resolveConnection(sourceOf(resource, resources, args), args, context, info),
  }
}

function aggregate(resource: Resource): OperationField {
  const { aggregate: name, aggregateType } = graphNames(resource)
  return {
    sdl: `"The ${resource.path} counted and measured, whole or in groups."
      ${name}(${aggregateArguments(resource)}): ${aggregateType}`,
    lists: resource,
    resolve: aggregateResolver(resource),
  }
}

/** The arguments for the parent of a list, as SDL. */
function listParents(resource: Resource): string {
  const nested = nestedReferences(resource).map(
    ({ column, field }) =>
      `"Only those of this one of the ${field.to}, which must exist." ${camelCase(column)}: ID, `,
  )
  return parentArguments(resource) + nested.join('')
}

/** The requested list: of an owner, of a resource that the listed ones refer to, or of the whole collection. */
function sourceOf(resource: Resource, resources: readonly Resource[], args: KeyArguments): ListSource {
  const parent = parentArgument(resource)
  if (resource.owner && parent) {
    return { resource, parent: { resource: resource.owner, id: args[parent] as string } }
  }
  const nested = relationsOf(resource, resources).find(
    ({ leaf }) => leaf.field.nested && typeof args[camelCase(leaf.column)] === 'string',
  )
  if (!nested) return { resource }
  return { resource, parent: { resource: nested.target, id: args[camelCase(nested.leaf.column)] as string } }
}
