import { readResource } from '../../domain/read.ts'
import { relationsOf } from '../../model/relations.ts'
import type { Resource, Values } from '../../model/resource.ts'
import { requireScope } from '../execution/context.ts'
import { camelCase, graphNames, parentArgument } from '../names.ts'
import { aggregateArguments, aggregateResolver } from './aggregates.ts'
import { listFields } from './objects.ts'
import { addressArguments, keyReader, type SchemaField } from './sdl.ts'

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
      const read = () => readResource(context.loaders.reader, resource, keyOf(args))
      return resource.parentField ? context.connections.use(read) : read()
    },
  }
}

/** The list of an owner, of a resource that the listed ones refer to, or of all. */
function lists(resource: Resource, resources: readonly Resource[]): SchemaField[] {
  const { path, owner } = resource
  const { page, connection } = graphNames(resource)
  const nested = relationsOf(resource, resources).filter(({ leaf }) => leaf.field.nested)
  const parents = [
    ...(owner ? [{ parent: owner, argument: parentArgument(resource) as string }] : []),
    ...nested.map(({ target, leaf }) => ({ parent: target, argument: camelCase(leaf.column) })),
  ]
  const address = parents
    .map(
      ({ parent, argument }) =>
        `"Only items of this resource of ${parent.path}, which must exist." ${argument}: ID, `,
    )
    .join('')
  const opening = {
    page: `"A page of ${path}." ${page}(${address}`,
    connection: `"Part of ${path}, paged by cursors." ${connection}(${address}`,
  }
  return listFields(resource, opening, (_, args: Values) => {
    const given = parents.find(({ argument }) => typeof args[argument] === 'string')
    return given && { resource: given.parent, id: args[given.argument] as string }
  })
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
