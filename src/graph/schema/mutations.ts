import { deleteResource } from '../../domain/delete.ts'
import { createResource, patchResource, putResource } from '../../domain/write.ts'
import { type Field, isRequired } from '../../model/fields.ts'
import type { Resource, Values } from '../../model/resource.ts'
import type { Row } from '../../model/row.ts'
import type { ApiVersion } from '../../model/versions/versions.ts'
import { type GraphContext, requireScope } from '../execution/context.ts'
import { selectedFields } from '../execution/selection.ts'
import { graphNames, singular, toWireNames } from '../names.ts'
import { addressArguments, type KeyArguments, keyReader, parentArguments } from './arguments.ts'
import { memberOf, type SchemaField, typeOf } from './sdl.ts'

export const OUTCOMES = /* GraphQL */ `
"The outcome of a write."
enum WriteOutcome {
  "Created." CREATED
  "Replaced or changed." REPLACED
  "Nothing to change: the values were already stored." UNCHANGED
}
"The outcome of a deletion."
enum DeleteOutcome {
  "Deleted." DELETED
  "There was nothing to delete." ABSENT
}
"The outcome of a deletion."
type DeletePayload {
  "The outcome." outcome: DeleteOutcome!
}`

/** The type of the argument that names the API version of a write's input. */
export function versionType(versions: readonly ApiVersion[]): string {
  return `"A version of the API. It determines the fields that a resource has."
    enum ApiVersion { ${versions.map(({ name }) => name).join(' ')} }`
}

export function inputTypes(resource: Resource): string {
  const names = graphNames(resource)
  const writable = Object.entries(resource.writableFields)
  const readOnly = Object.entries(resource.allFields).filter(([, field]) => field.readOnly)
  const member = ([name, field]: [string, Field], isRequired = false) => {
    const suffix = `${field.type === 'group' ? 'Input' : ''}${isRequired ? '!' : ''}`
    return memberOf(name, field, typeOf(resource, name, field) + suffix)
  }
  return `"The fields that a caller can set."
    input ${names.input} { ${writable.map((entry) => member(entry, isRequired(entry[1]))).join('\n')} }
    "A merge patch (RFC 7396). Null removes a field; omitted fields keep their values."
    input ${names.patchInput} { ${writable.map((entry) => member(entry)).join('\n')} }
    "Read-only fields as you last read them. A different value fails with READ_ONLY_FIELD."
    input ${names.readOnlyInput} { ${readOnly.map(([name, field]) => memberOf(name, field, 'JSON')).join('\n')} }`
}

export function payloadType(resource: Resource): string {
  const { payload, type } = graphNames(resource)
  return `"The outcome of a write, and the resource after it."
    type ${payload} {
      "The outcome." outcome: WriteOutcome!
      "The resource after the write." ${singular(resource)}: ${type}!
    }`
}

/** The operations that write a resource. Each is nullable, so that one error does not affect the others. */
export function mutations(resource: Resource): SchemaField[] {
  const { listed, replaceable } = resource
  return [
    ...(listed ? [create(resource)] : []),
    ...(replaceable ? [put(resource), patch(resource)] : []),
    remove(resource),
  ]
}

const INPUT = '"The new values." input'
const KEY =
  '"Idempotency key. Repeating the same key and input creates the resource once and returns the first response." idempotencyKey: String'
const CONDITION = `"Writes only if the current version is one of these." ifVersion: [Int!],
  "Writes only if the resource has not changed since this second." ifUnmodifiedSince: DateTime`
const READ_ONLY = '"Read-only fields as you last read them. The write fails if they differ." readOnly'
const API_VERSION = `,
  "Version of the API that the input is in. Fields outside of it keep their values or get their initial values." apiVersion: ApiVersion`

/** Empty if all versions of the API have the same fields. */
function versionArgument({ isVersioned }: Resource): string {
  return isVersioned ? API_VERSION : ''
}

function create(resource: Resource): SchemaField {
  const names = graphNames(resource)
  const keyOf = keyReader(resource)
  return {
    sdl: `"Creates a resource with a generated identifier."
      ${names.create}(${parentArguments(resource)}${INPUT}: ${names.input}!, ${KEY},
        "An identifier that must not exist. The new resource gets another one." otherThan: ID${versionArgument(resource)}
      ): ${names.payload}`,
    resolve: writing(resource, ({ caller, domain }, args) => {
      const { parentId } = keyOf(args)
      const input = toWireNames(resource, args.input)
      return createResource({ ...domain, caller }, resource, parentId, input, {
        key: args.idempotencyKey ?? undefined,
        otherThan: args.otherThan ?? undefined,
        apiVersion: args.apiVersion ?? undefined,
      })
    }),
  }
}

function put(resource: Resource): SchemaField {
  const names = graphNames(resource)
  const keyOf = keyReader(resource)
  return {
    sdl: `"Creates or replaces the resource with this identifier."
      ${names.put}(${addressArguments(resource)}, ${INPUT}: ${names.input}!,
        ${CONDITION}, ${READ_ONLY}: ${names.readOnlyInput},
        "Whether a new resource may be created." mayCreate: Boolean! = true,
        "Whether an existing resource may be replaced." mayReplace: Boolean! = true${versionArgument(resource)}
      ): ${names.payload}`,
    resolve: writing(resource, ({ caller, domain }, args) => {
      const { mayCreate, mayReplace } = args
      const options = { ...conditions(resource, args), mayCreate, mayReplace }
      const input = toWireNames(resource, args.input)
      return putResource({ ...domain, caller }, resource, keyOf(args), input, options)
    }),
  }
}

function patch(resource: Resource): SchemaField {
  const names = graphNames(resource)
  const keyOf = keyReader(resource)
  return {
    sdl: `"Applies a merge patch."
      ${names.patch}(${addressArguments(resource)}, "The changes." patch: ${names.patchInput}!,
        ${CONDITION}, ${READ_ONLY}: ${names.readOnlyInput}${versionArgument(resource)}): ${names.payload}`,
    resolve: writing(resource, ({ caller, domain }, args) => {
      const changes = toWireNames(resource, args.patch)
      return patchResource({ ...domain, caller }, resource, keyOf(args), changes, conditions(resource, args))
    }),
  }
}

function remove(resource: Resource): SchemaField {
  const keyOf = keyReader(resource)
  return {
    sdl: `"Deletes the resource. With strict, deleting a missing resource is an error."
      ${graphNames(resource).delete}(${addressArguments(resource)}, ${CONDITION},
        "Whether deleting a missing resource is an error." strict: Boolean! = false): DeletePayload`,
    resolve: writing(resource, async ({ caller, domain }, args) => {
      const options = { ...conditions(resource, args), strict: args.strict }
      return { outcome: await deleteResource({ ...domain, caller }, resource, keyOf(args), options) }
    }),
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

/** The resolver of a write: checks the scopes, and makes later reads of the operation see the write. */
function writing(
  resource: Resource,
  write: (context: GraphContext, args: WriteArguments) => Promise<{ outcome: string; row?: Row }>,
): SchemaField['resolve'] {
  return async (_, args, context, info) => {
    requireScope(context, resource, 'write')
    const { caller, connections, domain, loaders, selectsWritten } = context
    const isSelected = !selectsWritten && selectedFields(info).has(singular(resource))
    if (isSelected) requireScope(context, resource, 'read')
    try {
      const { outcome, row } = await connections.use(() => write(context, args))
      return { outcome, [singular(resource)]: row }
    } finally {
      // Even after an error: when the connection is lost, the write may have happened.
      domain.readers.recordWrite(caller)
      context.reader = domain.client
      loaders.clear()
    }
  }
}
