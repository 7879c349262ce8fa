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
  const sourceOf = sourceReader(resource, resources)
  return {
    sdl: `"A page of ${resource.path}."
      ${name}(${listParents(resource)}${pageArguments(resource)}): ${pageType}`,
    lists: resource,
    resolve: (_, args, context, info) => resolvePage(sourceOf(args), args, context, info),
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
  const sourceOf = sourceReader(resource, resources)
  return {
    sdl: `"A part of ${resource.path}, by cursors."
      ${name}(${listParents(resource)}${connectionArguments(resource)}): ${connectionType}`,
    lists: resource,
    resolve: (_, args, context, info) => resolveConnection(sourceOf(args), args, context, info),
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

/** Finds the requested list: of an owner, of a resource that the listed ones refer to, or of the whole collection. */
function sourceReader(
  resource: Resource,
  resources: readonly Resource[],
): (args: KeyArguments) => ListSource {
  const { owner } = resource
  const ownerArgument = parentArgument(resource)
  const nested = relationsOf(resource, resources).filter(({ leaf }) => leaf.field.nested)
  const parents =
    owner && ownerArgument
      ? [{ parent: owner, argument: ownerArgument }]
      : nested.map(({ target, leaf }) => ({ parent: target, argument: camelCase(leaf.column) }))
  return (args) => {
    const { parent, argument } = parents.find(({ argument }) => typeof args[argument] === 'string') ?? {}
    if (!parent || !argument) return { resource }
    return { resource, parent: { resource: parent, id: args[argument] as string } }
  }
}
