import type { WriteKind, WriteOptions } from '../../domain/write.ts'
import { hidesRows } from '../../model/access/access.ts'
import type { ApiVersion } from '../../model/definition/domain.ts'
import { type Field, fieldsThat, isRequired } from '../../model/definition/fields.ts'
import type { Resource, Values } from '../../model/definition/resource.ts'
import { KEPT_COLUMNS } from '../../model/rows/row.ts'
import { selectedFields } from '../execution/selection.ts'
import { camelCase, graphNames, groupType, singular, toWireNames } from '../names.ts'
import { keyReader } from './objects.ts'
import { addressArguments, described, memberOf, parentArguments, type SchemaField, typeOf } from './sdl.ts'

export const OUTCOMES = /* GraphQL */ `
"The outcome of a write."
enum WriteOutcome {
  "Created." CREATED
  "Replaced or changed." REPLACED
  "Unchanged: the values were already stored." UNCHANGED
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

export function versionType(versions: readonly ApiVersion[]): string {
  return `"A version of the API. It determines the fields that a resource has."
    enum ApiVersion { ${versions.map(({ name }) => name).join(' ')} }`
}

type TypeOfMember = (name: string, field: Field, column?: string) => string

export function inputTypes(resource: Resource): string {
  const names = graphNames(resource)
  const { writableFields } = resource
  const readOnlyFields = fieldsThat(resource.allFields, ({ readOnly }) => readOnly === true)
  const settable: TypeOfMember = (name, field, column) =>
    `${typeOf(resource, name, field, column)}${field.type === 'group' ? 'Input' : ''}`
  const stored: TypeOfMember = (name, field) =>
    field.type === 'group' ? `${groupType(resource, name)}ReadOnly` : 'JSON'
  const input: TypeOfMember = (name, field) => settable(name, field) + (isRequired(field) ? '!' : '')
  return `"The fields that a caller can set."
    input ${names.input} { ${members(writableFields, input)} }
    "A merge patch (RFC 7396). Null removes a field; omitted fields keep their values."
    input ${names.patchInput} { ${members(writableFields, settable)} }
    "Read-only fields as you last read them. A different value fails with READ_ONLY_FIELD."
    input ${names.readOnlyInput} { ${members(readOnlyFields, stored)} }
    ${groupInputs(writableFields, settable)}
    ${groupInputs(readOnlyFields, stored)}`
}

function members(fields: Resource['allFields'], type: TypeOfMember, prefix = ''): string {
  return Object.entries(fields)
    .map(([name, field]) => memberOf(name, field, type(name, field, prefix + name)))
    .join('\n')
}

function groupInputs(fields: Resource['allFields'], type: TypeOfMember): string {
  const inputs = Object.entries(fields).map(([name, field]) =>
    field.type === 'group'
      ? `${described(field.description)}input ${type(name, field)} { ${members(field.fields, type, `${name}_`)} }`
      : '',
  )
  return inputs.join('\n')
}

export function payloadType(resource: Resource): string {
  const { payload } = graphNames(resource)
  return `"The outcome of a write, and the resource after it."
    type ${payload} {
      "The outcome." outcome: WriteOutcome!
      ${
        hidesRows(resource)
          ? `"Whether the caller may read the resource after the write." isReadable: Boolean!
      "The resource after the write. Null if the caller may not read it."  ${singular(resource)}: ${resource.name}`
          : `"The resource after the write." ${singular(resource)}: ${resource.name}!`
      }
    }`
}

const KEY =
  '"Idempotency key. Repeating the same key and input creates the resource once and returns the first response." idempotencyKey: String'
const CONDITION = `"Writes only if the current version is one of these." ifVersion: [Int!],
  "Writes only if the resource has not changed since this second. With ifVersion, both conditions must hold." ifUnmodifiedSince: DateTime,
  "Fails if the current version is one of these." unlessVersion: [Int!],
  "Fails if the resource exists." unlessExists: Boolean`
const API_VERSION = `,
  "API version of the input. Fields outside this version keep their values or get their initial values." apiVersion: ApiVersion`

/** Each is nullable, so that one error does not affect the others. */
export function mutations(resource: Resource): SchemaField[] {
  const { listed, replaceable, hasApiVersions } = resource
  const names = graphNames(resource)
  const address = addressArguments(resource)
  const input = `"The new values." input: ${names.input}!`
  const state = `${CONDITION}, "Read-only fields as you last read them. The write fails if they differ." readOnly: ${names.readOnlyInput}`
  const apiVersion = hasApiVersions ? API_VERSION : ''
  const create: SchemaField = {
    sdl: `"Creates a resource with a generated identifier."
      ${names.create}(${parentArguments(resource)}${input}, ${KEY},
        "Fails if a resource with this identifier exists. The new resource gets a generated one." otherThan: ID${apiVersion}
      ): ${names.payload}`,
    resolve: writing(resource, 'create'),
  }
  const put: SchemaField = {
    sdl: `"Creates or replaces the resource with this identifier."
      ${names.put}(${address}, ${input}, ${state},
        "Whether a new resource may be created, the default." mayCreate: Boolean = null,
        "Whether an existing resource may be replaced, the default. The opposite of unlessExists." mayReplace: Boolean = null${apiVersion}
      ): ${names.payload}`,
    resolve: writing(resource, 'put'),
  }
  const patch: SchemaField = {
    sdl: `"Applies a merge patch."
      ${names.patch}(${address}, "The changes." patch: ${names.patchInput}!, ${state}${apiVersion}): ${names.payload}`,
    resolve: writing(resource, 'patch'),
  }
  const remove: SchemaField = {
    sdl: `"Deletes the resource. With strict, deleting a missing resource is an error."
      ${names.delete}(${address}, ${CONDITION},
        "Whether deleting a missing resource is an error. By default it is not." strict: Boolean = null): DeletePayload`,
    resolve: writing(resource, 'delete'),
  }
  return [...(listed ? [create] : []), ...(replaceable ? [put, patch] : []), remove]
}

interface WriteArguments extends Values {
  readonly input?: Values
  readonly patch?: Values
  readonly idempotencyKey?: string | null
  readonly otherThan?: string | null
  readonly readOnly?: Values | null
  readonly ifVersion?: readonly number[] | null
  readonly ifUnmodifiedSince?: Date | null
  readonly apiVersion?: string | null
  readonly unlessVersion?: readonly number[] | null
  readonly unlessExists?: boolean | null
  readonly mayCreate?: boolean | null
  readonly mayReplace?: boolean | null
  readonly strict?: boolean | null
}

function optionsOf(resource: Resource, args: WriteArguments): WriteOptions {
  const { mayCreate, unlessExists, mayReplace, strict } = args
  return {
    key: args.idempotencyKey ?? undefined,
    otherThan: args.otherThan ?? undefined,
    apiVersion: args.apiVersion ?? undefined,
    versions: args.ifVersion ?? undefined,
    unmodifiedSince: args.ifUnmodifiedSince ?? undefined,
    readOnly: toWireNames(resource, args.readOnly ?? {}),
    unlessVersions:
      unlessExists || mayReplace === false ? ('all' as const) : (args.unlessVersion ?? undefined),
    mayCreate: mayCreate ?? true,
    strict: strict ?? false,
  }
}

function writing(resource: Resource, kind: WriteKind): SchemaField['resolve'] {
  const keyOf = keyReader(resource)
  const name = singular(resource)
  const columns = [...KEPT_COLUMNS, ...Object.keys(resource.allFields)]
  const own = new Set(['__typename', ...columns.map(camelCase)])
  return async (_, args: WriteArguments, { session }, info) => {
    const { row, ...result } = await session.write(resource, {
      kind,
      key: keyOf(args),
      values: toWireNames(resource, args.input ?? args.patch ?? {}),
      options: optionsOf(resource, args),
      shows() {
        if (!selectedFields(info).has(name)) return 'nothing'
        return [...selectedFields(info, name)].every((field) => own.has(field)) ? 'fields' : 'relations'
      },
    })
    return { ...result, [name]: row }
  }
}
