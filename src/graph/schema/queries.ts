import { readResource } from '../../domain/read.ts'
import { nestedReferences, relationsOf } from '../../model/relations.ts'
import type { Resource } from '../../model/resource.ts'
import { requireScope } from '../execution/context.ts'
import { camelCase, graphNames, parentArgument } from '../names.ts'
import { aggregateArguments, aggregateResolver } from './aggregates.ts'
import { addressArguments, type KeyArguments, keyReader, parentArguments } from './arguments.ts'
import { connectionArguments, resolveConnection } from './connections.ts'
import type { ListSource } from './lists.ts'
import { pageArguments, resolvePage } from './pages.ts'
import type { SchemaField } from './sdl.ts'

/** The operations that read a resource. Each is nullable, so that one error does not affect the others. */
export function queries(resource: Resource, resources: readonly Resource[]): SchemaField[] {
  return [read(resource), ...(resource.listed ? lists(resource, resources) : []), aggregate(resource)]
}

function read(resource: Resource): SchemaField {
  const keyOf = keyReader(resource)
  return {
    sdl: `"One resource of ${resource.path}. Fails with RESOURCE_NOT_FOUND or RESOURCE_GONE if there is none."
      ${graphNames(resource).read}(${addressArguments(resource)}): ${resource.name}`,
    resolve: (_, args, context) => {
      requireScope(context, resource, 'read')
      const read = () => readResource(context.reader, resource, keyOf(args))
      return resource.parentField ? context.connections.use(read) : read()
    },
  }
}

function lists(resource: Resource, resources: readonly Resource[]): SchemaField[] {
  const names = graphNames(resource)
  const parents = listParents(resource)
  const sourceOf = sourceReader(resource, resources)
  return [
    {
      sdl: `"A page of ${resource.path}." ${names.page}(${parents}${pageArguments(resource)}): ${names.pageType}`,
      lists: resource,
      resolve: (_, args, context, info) => resolvePage(sourceOf(args), args, context, info),
    },
    {
      sdl: `"Part of ${resource.path}, paged by cursors."
        ${names.connection}(${parents}${connectionArguments(resource)}): ${names.connectionType}`,
      lists: resource,
      resolve: (_, args, context, info) => resolveConnection(sourceOf(args), args, context, info),
    },
  ]
}

function aggregate(resource: Resource): SchemaField {
  const { aggregate: name, aggregateType } = graphNames(resource)
  return {
    sdl: `"Counts and measures ${resource.path}, as a whole or in groups."
      ${name}(${aggregateArguments(resource)}): ${aggregateType}`,
    lists: resource,
    resolve: aggregateResolver(resource),
  }
}

function listParents(resource: Resource): string {
  const nested = nestedReferences(resource).map(
    ({ column, field }) =>
      `"Only items that refer to this resource of ${field.to}, which must exist." ${camelCase(column)}: ID, `,
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
