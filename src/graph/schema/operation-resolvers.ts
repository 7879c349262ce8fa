import type { GraphQLFieldResolver } from 'graphql'
import type { Written } from '../../domain/changes.ts'
import { deleteResource } from '../../domain/delete.ts'
import type { Address } from '../../domain/model/identifiers.ts'
import { operationsOf } from '../../domain/model/operations.ts'
import { relationsOf } from '../../domain/model/relations.ts'
import type { Resource } from '../../domain/model/resource.ts'
import type { Row } from '../../domain/model/row.ts'
import { readResource } from '../../domain/read.ts'
import { createResource, patchResource, putResource } from '../../domain/write.ts'
import { admit, type GraphContext } from '../execution/context.ts'
import { selectedFields } from '../execution/selection.ts'
import { camelCase, graphNames, parentArgument, singular } from '../names.ts'
import { aggregateResolver } from './aggregate-resolver.ts'
import { type ConnectionArguments, type InputValues, type PageArguments, toWireNames } from './arguments.ts'
import { resolveConnection, resolvePage } from './list-resolvers.ts'

type Resolver<Arguments> = GraphQLFieldResolver<Row, GraphContext, Arguments>

interface AddressArguments {
  readonly [argument: string]: unknown
}

interface WriteArguments extends AddressArguments {
  readonly input: InputValues
  readonly idempotencyKey?: string | null
  readonly patch: InputValues
  readonly readOnly?: InputValues | null
  readonly ifVersion?: readonly number[] | null
  readonly mayCreate: boolean
  readonly mayReplace: boolean
  readonly strict: boolean
}

/** The resolvers of a resource's fields of Query. */
export function queries(resource: Resource, resources: readonly Resource[]): Record<string, unknown> {
  const names = graphNames(resource)
  const read: Resolver<AddressArguments> = (_, address, context) => {
    admit(context, resource, 'read')
    return readResource(context.reader, resource, toAddress(resource, address))
  }
  const place = (args: AddressArguments) => ({ resource, parent: listedWithin(resource, resources, args) })
  const page: Resolver<PageArguments & AddressArguments> = (_, args, context, info) =>
    resolvePage(place(args), args, context, info)
  const connection: Resolver<ConnectionArguments & AddressArguments> = (_, args, context, info) =>
    resolveConnection(place(args), args, context, info)
  return {
    [names.read]: read,
    ...(operationsOf(resource).listed && { [names.page]: page, [names.connection]: connection }),
    [names.aggregate]: aggregateResolver(resource),
  }
}

/** The resolvers of a resource's fields of Mutation. */
export function mutations(resource: Resource): Record<string, unknown> {
  const names = graphNames(resource)
  const { listed, replaceable } = operationsOf(resource)
  const payload = ({ outcome, row }: Written) => ({ outcome, [singular(resource)]: row })
  const writing =
    (write: (context: GraphContext, args: WriteArguments) => Promise<unknown>): Resolver<WriteArguments> =>
    async (_, args, context, info) => {
      admit(context, resource, 'write')
      const { caller, domain, loaders, selectsWritten } = context
      if (!selectsWritten && selectedFields(info).has(singular(resource))) admit(context, resource, 'read')
      try {
        return await write(context, args)
      } finally {
        // Also when it failed: a lost answer does not say that nothing was written.
        domain.readers.noteWrite(caller)
        loaders.restart(domain.client)
      }
    }
  const create = writing(async ({ caller, domain }, args) => {
    const { parentId } = toAddress(resource, args)
    const input = toWireNames(resource, args.input)
    const { idempotencyKey: text } = args
    const key = typeof text === 'string' ? { identity: caller.identity, text } : undefined
    return payload(await createResource(domain, resource, parentId, input, key))
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

/** The resource whose own are listed: the owner of an owned one, or one that they refer to. */
function listedWithin(resource: Resource, resources: readonly Resource[], args: AddressArguments) {
  const parent = parentArgument(resource)
  if (resource.owner && parent) return { resource: resource.owner, id: args[parent] as string }
  const nested = relationsOf(resource, resources).find(
    ({ leaf }) => leaf.field.nested && typeof args[camelCase(leaf.column)] === 'string',
  )
  return nested && { resource: nested.target, id: args[camelCase(nested.leaf.column)] as string }
}

function toAddress(resource: Resource, args: AddressArguments): Address {
  const argument = parentArgument(resource)
  const parentId = argument ? (args[argument] as string) : undefined
  return { parentId, id: resource.kind === 'singleton' ? (parentId as string) : (args['id'] as string) }
}

function conditions(resource: Resource, { ifVersion, readOnly }: WriteArguments) {
  return { versions: ifVersion ?? undefined, readOnly: toWireNames(resource, readOnly ?? {}) }
}
