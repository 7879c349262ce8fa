import { deleteResource } from '../../domain/delete.ts'
import { type Field, isRequired } from '../../domain/model/fields.ts'
import type { Resource, Values } from '../../domain/model/resource.ts'
import type { Row } from '../../domain/model/row.ts'
import type { ApiVersion } from '../../domain/model/versions/versions.ts'
import { createResource, patchResource, putResource } from '../../domain/write.ts'
import { type GraphContext, requireScope } from '../execution/context.ts'
import { selectedFields } from '../execution/selection.ts'
import { graphNames, singular, toWireNames, wireSelection } from '../names.ts'
import {
  addressArguments,
  addressVariables,
  type KeyArguments,
  keyReader,
  type OperationField,
  parentArguments,
} from './operations.ts'
import { memberOf, typeOf } from './sdl.ts'

/** The outcomes of mutations. */
export const OUTCOMES = /* GraphQL */ `
"What a write did."
enum WriteOutcome {
  "It was not there, and is now." CREATED
  "It was changed." REPLACED
  "It already was what it was to be." UNCHANGED
}
"What a deletion did."
enum DeleteOutcome {
  "It was there, and is not any more." DELETED
  "It was not there." ABSENT
}
"What a deletion did."
type DeletePayload {
  "What was done." outcome: DeleteOutcome!
}`

/** The type of the argument that says in which version of the API the input of a write is. */
export function versionType(versions: readonly ApiVersion[]): string {
  return `"A version of the API. It determines the fields that a resource has."
    enum ApiVersion { ${versions.map(({ name }) => name).join(' ')} }`
}

/** The input types of a resource. */
export function inputTypes(resource: Resource): string {
  const names = graphNames(resource)
  const writable = Object.entries(resource.writableFields)
  const readOnly = Object.entries(resource.allFields).filter(([, field]) => field.readOnly)
  const member = ([name, field]: [string, Field], isRequired = false) => {
    const suffix = `${field.type === 'group' ? 'Input' : ''}${isRequired ? '!' : ''}`
    return memberOf(name, field, typeOf(resource, name, field) + suffix)
  }
  return `"What a caller may set."
    input ${names.input} { ${writable.map((entry) => member(entry, isRequired(entry[1]))).join('\n')} }
    "A merge patch: what is null is removed, what is left out stays."
    input ${names.patchInput} { ${writable.map((entry) => member(entry)).join('\n')} }
    "Read-only fields as the caller last saw them; refused with READ_ONLY_FIELD where they differ."
    input ${names.readOnlyInput} { ${readOnly.map(([name, field]) => memberOf(name, field, 'JSON')).join('\n')} }`
}

/** The result type of the writes of a resource. */
export function payloadType(resource: Resource): string {
  const { payload, type } = graphNames(resource)
  return `"What a write did, and the resource after it."
    type ${payload} {
      "What was done." outcome: WriteOutcome!
      "What it is now." ${singular(resource)}: ${type}!
    }`
}

/** The operations that write a resource. Each is nullable, so that one error does not affect the others. */
export function mutations(resource: Resource): OperationField[] {
  const { listed, replaceable } = resource
  return [
    ...(listed ? [create(resource)] : []),
    ...(replaceable ? [put(resource), patch(resource)] : []),
    remove(resource),
  ]
}

const INPUT = '"What it is to be." input'
const KEY =
  '"The same key with the same input creates once, and is answered the same each time." idempotencyKey: String'
const CONDITION = `"The change happens only if the version is one of these." ifVersion: [Int!],
  "The change happens only if the last one was not later than in this second." ifUnmodifiedSince: DateTime`
const READ_ONLY = '"Read-only fields as last seen." readOnly'
const API_VERSION = `,
  "Only fields of this version can be set: others stay, or get their initial values." apiVersion: ApiVersion`

/** The version of the input as SDL, for a resource whose fields differ between versions. */
function versionArgument({ isVersioned }: Resource): string {
  return isVersioned ? API_VERSION : ''
}

/** The version of the input as a variable of REST. */
function versionVariable({ isVersioned }: Resource): string[] {
  return isVersioned ? ['apiVersion'] : []
}

function create(resource: Resource): OperationField {
  const names = graphNames(resource)
  const keyOf = keyReader(resource)
  return {
    sdl: `"Creates a resource with an identifier made by the service."
      ${names.create}(${parentArguments(resource)}${INPUT}: ${names.input}!, ${KEY},
        "An identifier that must not be taken; the new one differs." otherThan: ID${versionArgument(resource)}
      ): ${names.payload}`,
    resolve: writing(resource, ({ caller, domain }, args) => {
      const { parentId } = keyOf(args)
      const { idempotencyKey: text, otherThan } = args
      const key = typeof text === 'string' ? { identity: caller.identity, text } : undefined
      const input = toWireNames(resource, args.input)
      return createResource({ ...domain, caller }, resource, parentId, input, {
        key,
        otherThan: otherThan ?? undefined,
        apiVersion: args.apiVersion ?? undefined,
      })
    }),
    rest: {
      ...writeOf(resource),
      request: 'create',
      variables: ['input', 'idempotencyKey', 'otherThan', ...versionVariable(resource)],
    },
  }
}

function put(resource: Resource): OperationField {
  const names = graphNames(resource)
  const keyOf = keyReader(resource)
  const given = [
    ...['input', 'readOnly', 'ifVersion', 'ifUnmodifiedSince', 'mayCreate', 'mayReplace'],
    ...versionVariable(resource),
  ]
  return {
    sdl: `"Creates or replaces the resource with this identifier."
      ${names.put}(${addressArguments(resource)}, ${INPUT}: ${names.input}!,
        ${CONDITION}, ${READ_ONLY}: ${names.readOnlyInput},
        "Whether it may be created." mayCreate: Boolean! = true,
        "Whether it may be replaced." mayReplace: Boolean! = true${versionArgument(resource)}
      ): ${names.payload}`,
    resolve: writing(resource, ({ caller, domain }, args) => {
      const { mayCreate, mayReplace } = args
      const options = { ...conditions(resource, args), mayCreate, mayReplace }
      const input = toWireNames(resource, args.input)
      return putResource({ ...domain, caller }, resource, keyOf(args), input, options)
    }),
    rest: { ...writeOf(resource), request: 'put', variables: [...addressVariables(resource), ...given] },
  }
}

function patch(resource: Resource): OperationField {
  const names = graphNames(resource)
  const keyOf = keyReader(resource)
  const given = ['patch', 'readOnly', 'ifVersion', 'ifUnmodifiedSince', ...versionVariable(resource)]
  return {
    sdl: `"Changes the fields that the patch names."
      ${names.patch}(${addressArguments(resource)}, "The changes." patch: ${names.patchInput}!,
        ${CONDITION}, ${READ_ONLY}: ${names.readOnlyInput}${versionArgument(resource)}): ${names.payload}`,
    resolve: writing(resource, ({ caller, domain }, args) => {
      const changes = toWireNames(resource, args.patch)
      return patchResource({ ...domain, caller }, resource, keyOf(args), changes, conditions(resource, args))
    }),
    rest: { ...writeOf(resource), request: 'patch', variables: [...addressVariables(resource), ...given] },
  }
}

function remove(resource: Resource): OperationField {
  const keyOf = keyReader(resource)
  const variables = [...addressVariables(resource), 'ifVersion', 'ifUnmodifiedSince', 'strict']
  return {
    sdl: `"Deletes the resource; when strict, one that is not there is an error."
      ${graphNames(resource).delete}(${addressArguments(resource)}, ${CONDITION},
        "Whether it is an error that it is not there." strict: Boolean! = false): DeletePayload`,
    resolve: writing(resource, async ({ caller, domain }, args) => {
      const options = { ...conditions(resource, args), strict: args.strict }
      return { outcome: await deleteResource({ ...domain, caller }, resource, keyOf(args), options) }
    }),
    rest: { ...writeOf(resource), request: 'remove', variables, selection: 'outcome' },
  }
}

interface WriteArguments extends KeyArguments {
  readonly input: Values
  readonly idempotencyKey?: string | null
  readonly otherThan?: string | null
  readonly patch: Values
  readonly readOnly?: Values | null
  readonly ifVersion?: readonly number[] | null
  readonly ifUnmodifiedSince?: Date | null
  readonly apiVersion?: string | null
  readonly mayCreate: boolean
  readonly mayReplace: boolean
  readonly strict: boolean
}

function conditions(resource: Resource, args: WriteArguments) {
  const { ifVersion, ifUnmodifiedSince, readOnly, apiVersion } = args
  return {
    apiVersion: apiVersion ?? undefined,
    versions: ifVersion ?? undefined,
    unmodifiedSince: ifUnmodifiedSince ?? undefined,
    readOnly: toWireNames(resource, readOnly ?? {}),
  }
}

/** How REST uses a write that returns the resource. */
function writeOf(resource: Resource) {
  const selection = `outcome resource: ${singular(resource)} { ${wireSelection(resource)} }`
  return { root: 'mutation', result: 'write', selection } as const
}

/** The resolver of a write. It checks the scopes, and lets later reads of the operation see the write. */
function writing(
  resource: Resource,
  write: (context: GraphContext, args: WriteArguments) => Promise<{ outcome: string; row?: Row }>,
): OperationField['resolve'] {
  return async (_, args, context, info) => {
    requireScope(context, resource, 'write')
    const { caller, domain, loaders, selectsWritten } = context
    const isSelected = !selectsWritten && selectedFields(info).has(singular(resource))
    if (isSelected) requireScope(context, resource, 'read')
    try {
      const { outcome, row } = await write(context, args)
      return { outcome, [singular(resource)]: row }
    } finally {
      // Even after an error: when the connection is lost, the write may have happened.
      domain.readers.recordWrite(caller)
      loaders.restart(domain.client)
    }
  }
}
