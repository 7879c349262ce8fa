import type { GraphQLFieldResolver } from 'graphql'
import { authorize } from '../domain/authorize.ts'
import { operationsOf } from '../domain/operations.ts'
import { queryable } from '../domain/query.ts'
import { readPage, readResource, type Within } from '../domain/read.ts'
import { ownedBy, referencesTo, relationsOf } from '../domain/relations.ts'
import { deleteResource } from '../domain/remove.ts'
import type { Resource } from '../domain/resource.ts'
import type { Row } from '../domain/rows.ts'
import { type Address, findRow } from '../domain/store.ts'
import { createResource, patchResource, putResource, type Written } from '../domain/write.ts'
import { type InputValues, type PageArguments, toPageRequest, toWireNames } from './arguments.ts'
import type { GraphContext } from './context.ts'
import { camelCase, graphNames, groupType, parentArgument, pascalCase, singular, sortValue } from './names.ts'
import { scalars } from './scalars.ts'

type Resolver<Arguments> = GraphQLFieldResolver<Row, GraphContext, Arguments>
type Resolvers = Record<string, Record<string, unknown>>

interface AddressArguments {
  readonly [argument: string]: unknown
}

interface WriteArguments extends AddressArguments {
  readonly input: InputValues
  readonly patch: InputValues
  readonly readOnly?: InputValues | null
  readonly ifVersion?: readonly number[] | null
  readonly mayCreate: boolean
  readonly mayReplace: boolean
  readonly strict: boolean
}

/** The resolvers of the whole schema, made from the definitions. Authorization comes first in each. */
export function createResolvers(resources: readonly Resource[]): Resolvers {
  const root: Resolvers = {
    ...(scalars as unknown as Resolvers),
    Query: { collections: () => resources.filter(({ kind }) => kind === 'collection') },
    Mutation: {},
  }
  for (const resource of resources) {
    Object.assign(root['Query'] as object, queries(resource, resources))
    Object.assign(root['Mutation'] as object, mutations(resource))
    Object.assign(root, types(resource, resources))
  }
  return root
}

function queries(resource: Resource, resources: readonly Resource[]): Record<string, unknown> {
  const names = graphNames(resource)
  const read: Resolver<AddressArguments> = (_, address, { caller, domain }) => {
    authorize(caller, resource, 'read')
    return readResource(domain.client, resource, toAddress(resource, address))
  }
  const page: Resolver<PageArguments & AddressArguments> = (_, request, context) =>
    resolvePage(resource, request, context, listedWithin(resource, resources, request))
  return { [names.read]: read, ...(operationsOf(resource).listed && { [names.page]: page }) }
}

function mutations(resource: Resource): Record<string, unknown> {
  const names = graphNames(resource)
  const { listed, replaceable } = operationsOf(resource)
  const payload = ({ outcome, row }: Written) => ({ outcome, [singular(resource)]: row })
  const writing =
    (write: (context: GraphContext, args: WriteArguments) => Promise<unknown>): Resolver<WriteArguments> =>
    (_, args, context) => {
      authorize(context.caller, resource, 'write')
      return write(context, args)
    }
  const create = writing(async ({ domain }, args) => {
    const parentId = toAddress(resource, args).parentId
    return payload(await createResource(domain, resource, parentId, toWireNames(resource, args.input)))
  })
  const put = writing(async ({ domain }, args) => {
    const { mayCreate, mayReplace } = args
    const options = { ...conditions(resource, args), mayCreate, mayReplace }
    const body = toWireNames(resource, args.input)
    return payload(await putResource(domain, resource, toAddress(resource, args), body, options))
  })
  const patch = writing(async ({ domain }, args) => {
    const changes = toWireNames(resource, args.patch)
    return payload(
      await patchResource(domain, resource, toAddress(resource, args), changes, conditions(resource, args)),
    )
  })
  const remove = writing(async ({ domain }, args) => {
    const options = { ...conditions(resource, args), strict: args.strict }
    return { outcome: await deleteResource(domain, resource, toAddress(resource, args), options) }
  })
  return {
    ...(listed && { [names.create]: create }),
    ...(replaceable && { [names.put]: put, [names.patch]: patch }),
    [names.delete]: remove,
  }
}

function types(resource: Resource, resources: readonly Resource[]): Resolvers {
  const names = graphNames(resource)
  const sortable = queryable(resource, { hidden: true })
  return {
    [resource.name]: {
      ...columnResolvers(resource),
      ...relationResolvers(resource, resources),
      ...childResolvers(resource, resources),
    },
    ...groupResolvers(resource),
    [names.sortField]: Object.fromEntries(sortable.map(({ column, name }) => [sortValue(column), name])),
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
      resolvePage(child, request, context, within(resource, column, row.id))
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

async function resolvePage(
  resource: Resource,
  args: PageArguments,
  { caller, domain }: GraphContext,
  parent: Within | undefined,
) {
  authorize(caller, resource, 'read')
  const request = toPageRequest(resource, args, domain.maximumPageSize)
  const { rows, totalCount } = await readPage(domain.client, resource, { ...request, within: parent })
  const { page, limit } = request
  const totalPages = Math.ceil(totalCount / limit)
  return { items: rows, page, limit, totalCount, totalPages, hasMore: page < totalPages }
}

/** The resource whose own are listed: the owner of an owned one, or one that they refer to. */
function listedWithin(
  resource: Resource,
  resources: readonly Resource[],
  args: AddressArguments,
): Within | undefined {
  const parent = parentArgument(resource)
  if (resource.owner && parent) return within(resource.owner, resource.parentField, args[parent])
  const nested = relationsOf(resource, resources).find(
    ({ leaf }) => leaf.field.nested && typeof args[camelCase(leaf.column)] === 'string',
  )
  return nested && within(nested.target, nested.leaf.column, args[camelCase(nested.leaf.column)])
}

function within(resource: Resource, column: string | undefined, id: unknown): Within {
  return { resource, id: id as string, column: column as string }
}

function toAddress(resource: Resource, args: AddressArguments): Address {
  const argument = parentArgument(resource)
  const parentId = argument ? (args[argument] as string) : undefined
  return { parentId, id: resource.kind === 'singleton' ? (parentId as string) : (args['id'] as string) }
}

function conditions(resource: Resource, { ifVersion, readOnly }: WriteArguments) {
  return { versions: ifVersion ?? undefined, readOnly: toWireNames(resource, readOnly ?? {}) }
}
