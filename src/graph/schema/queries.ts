import { operationsOf } from '../../domain/model/operations.ts'
import { nestedReferences, ownedBy, relationsOf } from '../../domain/model/relations.ts'
import type { Resource } from '../../domain/model/resource.ts'
import { readResource } from '../../domain/read.ts'
import { type GraphContext, requireScope } from '../execution/context.ts'
import { camelCase, graphNames, parentArgument, pascalCase, wireSelection } from '../names.ts'
import { aggregateArguments, aggregateResolver } from './aggregates.ts'
import { type ConnectionArguments, connectionArguments, resolveConnection } from './connections.ts'
import type { ListSource } from './lists.ts'
import {
  type AddressArguments,
  addressArguments,
  type OperationField,
  parentArguments,
  toAddress,
} from './operations.ts'
import { type PageArguments, pageArguments, resolvePage } from './pages.ts'
import type { Argument } from './sdl.ts'

/** The operations that read a resource. Each may be null, so that one that fails leaves the others be. */
export function queries(resource: Resource, resources: readonly Resource[]): OperationField[] {
  const lists = operationsOf(resource).listed
    ? [page(resource, resources), connection(resource, resources)]
    : []
  return [read(resource, resources), ...lists, aggregate(resource)]
}

function read(resource: Resource, resources: readonly Resource[]): OperationField {
  const args = addressArguments(resource)
  const singletons = ownedBy(resource, resources).filter((child) => !operationsOf(child).listed)
  const presence = singletons.map(({ path }) => `has_${path}: has${pascalCase(path)}`)
  return {
    name: graphNames(resource).read,
    description: `One of ${resource.path}; an error with RESOURCE_NOT_FOUND or RESOURCE_GONE where there is none.`,
    arguments: args,
    type: resource.name,
    resolve: (_, address: AddressArguments, context: GraphContext) => {
      requireScope(context, resource, 'read')
      return readResource(context.reader, resource, toAddress(resource, address))
    },
    rest: {
      request: 'read',
      result: 'resource',
      variables: resource.kind === 'singleton' ? [] : ['id'],
      selection: [wireSelection(resource), ...presence].join(' '),
    },
  }
}

function page(resource: Resource, resources: readonly Resource[]): OperationField {
  const args = pageArguments(resource)
  const { page: name, pageType: type } = graphNames(resource)
  return {
    name,
    description: `A page of ${resource.path}.`,
    arguments: [...parentArguments(resource), ...nestedArguments(resource), ...args],
    type,
    resolve: (_, given: PageArguments & AddressArguments, context, info) =>
      resolvePage(sourceOf(resource, resources, given), given, context, info),
    rest: {
      request: 'list',
      result: 'list',
      variables: args.map((argument) => argument.name),
      selection: `total_count: totalCount has_more: hasMore next: nextCursor previous: previousCursor
        items { ${wireSelection(resource)} }`,
    },
  }
}

function connection(resource: Resource, resources: readonly Resource[]): OperationField {
  const { connection: name, connectionType: type } = graphNames(resource)
  return {
    name,
    description: `A part of ${resource.path}, by cursors.`,
    arguments: [...parentArguments(resource), ...nestedArguments(resource), ...connectionArguments(resource)],
    type,
    resolve: (_, given: ConnectionArguments & AddressArguments, context, info) =>
      resolveConnection(sourceOf(resource, resources, given), given, context, info),
  }
}

function aggregate(resource: Resource): OperationField {
  const { aggregate: name, aggregateType: type } = graphNames(resource)
  return {
    name,
    description: `The ${resource.path} counted and measured, whole or in groups.`,
    arguments: aggregateArguments(resource),
    type,
    resolve: aggregateResolver(resource),
  }
}

function nestedArguments(resource: Resource): Argument[] {
  return nestedReferences(resource).map(({ column, field }) => ({
    name: camelCase(column),
    description: `Only those of this one of the ${field.to}, which must exist.`,
    type: 'ID',
  }))
}

/** The list that is asked for: of an owner, of a resource that those of the list refer to, or of all. */
function sourceOf(resource: Resource, resources: readonly Resource[], args: AddressArguments): ListSource {
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
