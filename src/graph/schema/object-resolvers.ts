import type { GraphQLFieldResolver } from 'graphql'
import { operationsOf } from '../../domain/model/operations.ts'
import { ownedBy, referencesTo, relationsOf } from '../../domain/model/relations.ts'
import type { Resource } from '../../domain/model/resource.ts'
import type { Row } from '../../domain/model/row.ts'
import { admit, type GraphContext } from '../execution/context.ts'
import { camelCase, connectionField, groupType, pascalCase, singular } from '../names.ts'
import type { ConnectionArguments, PageArguments } from './arguments.ts'
import { batchedReader, resolveConnection, resolvePage } from './list-resolvers.ts'

type Resolver<Arguments> = GraphQLFieldResolver<Row, GraphContext, Arguments>
type Resolvers = Record<string, Record<string, unknown>>

/** The resolvers of a resource's object type, and of the types of the objects in it. */
export function objectResolvers(resource: Resource, resources: readonly Resource[]): Resolvers {
  return {
    [resource.name]: {
      ...columnResolvers(resource),
      ...relationResolvers(resource, resources),
      ...childResolvers(resource, resources),
    },
    ...groupResolvers(resource),
  }
}

/** A field that is named as its column is needs none. */
function columnResolvers(resource: Resource): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(resource.allFields).flatMap(([name, field]): [string, unknown][] => {
      if (field.type !== 'group')
        return name === camelCase(name) ? [] : [[camelCase(name), (row: Row) => row[name]]]
      const columns = Object.keys(field.fields).map((member) => `${name}_${member}`)
      const isSet = (row: Row) => columns.some((column) => row[column] !== null)
      return [[camelCase(name), (row: Row) => (isSet(row) ? row : null)]]
    }),
  )
}

function groupResolvers(resource: Resource): Resolvers {
  return Object.fromEntries(
    Object.entries(resource.fields).flatMap(([name, field]) => {
      if (field.type !== 'group') return []
      const members = Object.keys(field.fields)
      const resolvers = members.map((member) => [camelCase(member), (row: Row) => row[`${name}_${member}`]])
      return [[groupType(resource, name), Object.fromEntries(resolvers)]]
    }),
  )
}

function relationResolvers(resource: Resource, resources: readonly Resource[]): Record<string, unknown> {
  const references = relationsOf(resource, resources).map(({ relation, leaf, target }) => [
    camelCase(relation),
    reader(target, (row) => row[leaf.column] as string | null),
  ])
  const { owner, parentField } = resource
  const parent =
    owner && parentField ? [[singular(owner), reader(owner, (row) => row[parentField] as string)]] : []
  return Object.fromEntries([...references, ...parent])
}

function reader(target: Resource, identifier: (row: Row) => string | null): Resolver<unknown> {
  return (row, _, context) => {
    admit(context, target, 'read')
    const id = identifier(row)
    return id === null ? null : context.loaders.row(target, 'id', id)
  }
}

function childResolvers(resource: Resource, resources: readonly Resource[]): Record<string, unknown> {
  const owned = ownedBy(resource, resources)
  const lists = [
    ...owned.filter((child) => operationsOf(child).listed),
    ...referencesTo(resource, resources).map(({ from }) => from),
  ]
  const single = owned.filter((child) => !operationsOf(child).listed)
  return Object.fromEntries([
    ...lists.flatMap((child) => listResolvers(resource, child)),
    ...single.flatMap(singletonResolvers),
  ])
}

function listResolvers(parent: Resource, child: Resource) {
  const placeOf = ({ id }: Row) => ({ resource: child, parent: { resource: parent, id } })
  const page: Resolver<PageArguments> = (row, args, context, info) =>
    resolvePage(placeOf(row), args, context, info, batchedReader(placeOf(row), context))
  const connection: Resolver<ConnectionArguments> = (row, args, context, info) =>
    resolveConnection(placeOf(row), args, context, info, batchedReader(placeOf(row), context))
  const name = camelCase(child.path)
  return [[name, page] as const, [connectionField(name), connection] as const]
}

function singletonResolvers(child: Resource): [string, Resolver<unknown>][] {
  const find = ({ id }: Row, { loaders }: GraphContext) => loaders.row(child, child.parentField as string, id)
  return [
    [
      camelCase(child.path),
      (row, _, context) => {
        admit(context, child, 'read')
        return find(row, context)
      },
    ],
    [`has${pascalCase(child.path)}`, async (row, _, context) => (await find(row, context)) !== undefined],
  ]
}
