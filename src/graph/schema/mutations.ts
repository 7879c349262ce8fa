import type { Written } from '../../domain/changes.ts'
import { deleteResource } from '../../domain/delete.ts'
import type { Field } from '../../domain/model/fields.ts'
import { operationsOf } from '../../domain/model/operations.ts'
import type { Resource } from '../../domain/model/resource.ts'
import { createResource, patchResource, putResource } from '../../domain/write.ts'
import { type GraphContext, requireScope } from '../execution/context.ts'
import { selectedFields } from '../execution/selection.ts'
import { type GraphValues, graphNames, singular, toWireNames, wireSelection } from '../names.ts'
import {
  type AddressArguments,
  addressArguments,
  type OperationField,
  parentArguments,
  toAddress,
} from './operations.ts'
import { type Argument, inputType, memberOf, type SchemaPart } from './sdl.ts'

/** The types that say what a mutation did. */
export const OUTCOMES: SchemaPart = {
  typeDefs: `"What a write did."
    enum WriteOutcome {
      "It was not there, and is now."
      CREATED
      "It was changed."
      REPLACED
      "It already was what it was to be."
      UNCHANGED
    }
    "What a deletion did."
    enum DeleteOutcome {
      "It was there, and is not any more."
      DELETED
      "It was not there."
      ABSENT
    }
    "What a deletion did."
    type DeletePayload {
      "What was done."
      outcome: DeleteOutcome!
    }`,
}

/** The types that a resource is written with. */
export function inputTypes(resource: Resource): SchemaPart {
  const names = graphNames(resource)
  const writable = Object.entries(resource.writableFields)
  const readOnly = Object.entries(resource.allFields).filter(([, field]) => field.readOnly)
  const member = ([name, field]: [string, Field], isRequired = false) =>
    memberOf(name, field, `${inputType(resource, name, field)}${isRequired ? '!' : ''}`)
  return {
    typeDefs: `"What a caller may set."
      input ${names.input} { ${writable.map((entry) => member(entry, entry[1].required)).join('\n')} }
      "A merge patch: what is null is removed, what is left out stays."
      input ${names.patchInput} { ${writable.map((entry) => member(entry)).join('\n')} }
      "Read-only fields as the caller last saw them; refused with READ_ONLY_FIELD where they differ."
      input ${names.readOnlyInput} { ${readOnly.map(([name, field]) => memberOf(name, field, 'JSON')).join('\n')} }`,
  }
}

/** The type that the writes of a resource answer with. */
export function payloadType(resource: Resource): SchemaPart {
  const { payload, type } = graphNames(resource)
  return {
    typeDefs: `"What a write did, and the resource after it."
      type ${payload} {
        "What was done." outcome: WriteOutcome!
        "What it is now." ${singular(resource)}: ${type}!
      }`,
  }
}

/** The operations that write a resource. Each may be null, so that one that fails leaves the others be. */
export function mutations(resource: Resource): OperationField[] {
  const { listed, replaceable } = operationsOf(resource)
  return [
    ...(listed ? [create(resource)] : []),
    ...(replaceable ? [put(resource), patch(resource)] : []),
    remove(resource),
  ]
}

function create(resource: Resource): OperationField {
  const names = graphNames(resource)
  return {
    name: names.create,
    description: 'Creates a resource with an identifier made by the service.',
    arguments: [...parentArguments(resource), inputArgument(resource), KEY],
    type: names.payload,
    resolve: writing(resource, async ({ caller, domain }, args) => {
      const { parentId } = toAddress(resource, args)
      const { idempotencyKey: text } = args
      const key = typeof text === 'string' ? { identity: caller.identity, text } : undefined
      const input = toWireNames(resource, args.input)
      return payload(resource, await createResource(domain, resource, parentId, input, key))
    }),
    rest: writeUse(resource, 'create', ['input', 'idempotencyKey']),
  }
}

function put(resource: Resource): OperationField {
  const names = graphNames(resource)
  return {
    name: names.put,
    description: 'Creates or replaces the resource with this identifier.',
    arguments: [
      ...addressArguments(resource),
      inputArgument(resource),
      CONDITION,
      readOnlyArgument(resource),
      { name: 'mayCreate', description: 'Whether it may be created.', type: 'Boolean!', otherwise: 'true' },
      { name: 'mayReplace', description: 'Whether it may be replaced.', type: 'Boolean!', otherwise: 'true' },
    ],
    type: names.payload,
    resolve: writing(resource, async ({ domain }, args) => {
      const { mayCreate, mayReplace } = args
      const options = { ...conditions(resource, args), mayCreate, mayReplace }
      const input = toWireNames(resource, args.input)
      return payload(resource, await putResource(domain, resource, toAddress(resource, args), input, options))
    }),
    rest: writeUse(resource, 'put', ['input', 'readOnly', 'ifVersion', 'mayCreate', 'mayReplace']),
  }
}

function patch(resource: Resource): OperationField {
  const names = graphNames(resource)
  return {
    name: names.patch,
    description: 'Changes the fields that the patch names.',
    arguments: [
      ...addressArguments(resource),
      { name: 'patch', description: 'The changes.', type: `${names.patchInput}!` },
      CONDITION,
      readOnlyArgument(resource),
    ],
    type: names.payload,
    resolve: writing(resource, async ({ domain }, args) => {
      const changes = toWireNames(resource, args.patch)
      const address = toAddress(resource, args)
      return payload(
        resource,
        await patchResource(domain, resource, address, changes, conditions(resource, args)),
      )
    }),
    rest: writeUse(resource, 'patch', ['patch', 'readOnly', 'ifVersion']),
  }
}

function remove(resource: Resource): OperationField {
  const strict = 'Whether it is an error that it is not there.'
  return {
    name: graphNames(resource).delete,
    description: 'Deletes the resource; when strict, one that is not there is an error.',
    arguments: [
      ...addressArguments(resource),
      CONDITION,
      { name: 'strict', description: strict, type: 'Boolean!', otherwise: 'false' },
    ],
    type: 'DeletePayload',
    resolve: writing(resource, async ({ domain }, args) => {
      const options = { ...conditions(resource, args), strict: args.strict }
      return { outcome: await deleteResource(domain, resource, toAddress(resource, args), options) }
    }),
    rest: { ...writeUse(resource, 'remove', ['ifVersion', 'strict']), selection: 'outcome' },
  }
}

interface WriteArguments extends AddressArguments {
  readonly input: GraphValues
  readonly idempotencyKey?: string | null
  readonly patch: GraphValues
  readonly readOnly?: GraphValues | null
  readonly ifVersion?: readonly number[] | null
  readonly mayCreate: boolean
  readonly mayReplace: boolean
  readonly strict: boolean
}

const CONDITION: Argument = {
  name: 'ifVersion',
  description: 'The change happens only if the version is one of these.',
  type: '[Int!]',
}

const KEY: Argument = {
  name: 'idempotencyKey',
  description: 'The same key with the same input creates once, and is answered the same each time.',
  type: 'String',
}

function inputArgument(resource: Resource): Argument {
  return { name: 'input', description: 'What it is to be.', type: `${graphNames(resource).input}!` }
}

function readOnlyArgument(resource: Resource): Argument {
  const type = graphNames(resource).readOnlyInput
  return { name: 'readOnly', description: 'Read-only fields as last seen.', type }
}

function conditions(resource: Resource, { ifVersion, readOnly }: WriteArguments) {
  return { versions: ifVersion ?? undefined, readOnly: toWireNames(resource, readOnly ?? {}) }
}

function payload(resource: Resource, { outcome, row }: Written) {
  return { outcome, [singular(resource)]: row }
}

function writeUse(resource: Resource, request: 'create' | 'put' | 'patch' | 'remove', given: string[]) {
  const address = request === 'create' || resource.kind === 'singleton' ? [] : ['id']
  const selection = `outcome resource: ${singular(resource)} { ${wireSelection(resource)} }`
  return { request, result: 'write', variables: [...address, ...given], selection }
}

/** The resolver of a write: with its scopes, and with what later reads of the operation must know. */
function writing(
  resource: Resource,
  write: (context: GraphContext, args: WriteArguments) => Promise<unknown>,
): OperationField['resolve'] {
  return async (_, args: WriteArguments, context, info) => {
    requireScope(context, resource, 'write')
    const { caller, domain, loaders, selectsWritten } = context
    if (!selectsWritten && selectedFields(info).has(singular(resource))) {
      requireScope(context, resource, 'read')
    }
    try {
      return await write(context, args)
    } finally {
      // Also when it failed: a lost answer does not say that nothing was written.
      domain.readers.recordWrite(caller)
      loaders.restart(domain.client)
    }
  }
}
