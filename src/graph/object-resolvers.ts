import type { GraphQLFieldResolver } from 'graphql'
import { authorize } from '../domain/authorize.ts'
import { operationsOf } from '../domain/operations.ts'
import { ownedBy, referencesTo, relationsOf } from '../domain/relations.ts'
import type { Resource } from '../domain/resource.ts'
import type { Row } from '../domain/rows.ts'
import { findRow } from '../domain/store.ts'
import type { PageArguments } from './arguments.ts'
import type { GraphContext } from './context.ts'
import { camelCase, groupType, pascalCase, singular } from './names.ts'
import { resolvePage } from './page-resolver.ts'

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

function columnResolvers(resource: Resource): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(resource.allFields).map(([name, field]) => {
      if (field.type !== 'group') return [camelCase(name), (row: Row) => row[name]]
      const columns = Object.keys(field.fields).map((member) => `${name}_${member}`)
      const isSet = (row: Row) => columns.some((column) => row[column] !== null)
      return [camelCase(name), (row: Row) => (isSet(row) ? row : null)]
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

/** Prisma joins look-ups of equal shape that are asked for in the same tick into one statement. */
function reader(target: Resource, identifier: (row: Row) => string | null): Resolver<unknown> {
  return (row, _, { caller, domain }) => {
    authorize(caller, target, 'read')
    const id = identifier(row)
    return id === null ? null : findRow(domain.client, target, { id })
  }
}

function childResolvers(resource: Resource, resources: readonly Resource[]): Record<string, unknown> {
  const owned = ownedBy(resource, resources)
  const listed = [
    ...owned
      .filter((child) => operationsOf(child).listed)
      .map((child) => [child, child.parentField] as const),
    ...referencesTo(resource, resources).map(({ from, leaf }) => [from, leaf.column] as const),
  ]
  const lists = listed.map(([child, column]) => {
    const list: Resolver<PageArguments> = (row, request, context) =>
      resolvePage(child, request, context, { resource, column: column as string, id: row.id })
    return [camelCase(child.path), list]
  })
  const single = owned.filter((child) => !operationsOf(child).listed).flatMap(singletonResolvers)
  return Object.fromEntries([...lists, ...single])
}

function singletonResolvers(child: Resource): [string, Resolver<unknown>][] {
  const find = (row: Row, { domain }: GraphContext) =>
    findRow(domain.client, child, { parentId: row.id, id: row.id })
  return [
    [
      camelCase(child.path),
      (row, _, context) => {
        authorize(context.caller, child, 'read')
        return find(row, context)
      },
    ],
    [`has${pascalCase(child.path)}`, async (row, _, context) => (await find(row, context)) !== null],
  ]
}
