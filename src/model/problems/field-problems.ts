import {
  type Field,
  isOfSomeApiVersions,
  isRestricted,
  kindOf,
  type LeafField,
} from '../definition/fields.ts'
import { camelCase } from '../definition/labels.ts'
import type { Leaf, Resource } from '../definition/resource.ts'
import { relationsInTitle, titleFields } from '../definition/titles.ts'
import { COMMON_OPTIONS } from '../kinds/kind.ts'
import { searchable } from '../query/search.ts'
import { isBlank } from '../values.ts'

/** Names of common fields, of members of GraphQL filters, and of PostgreSQL's system columns. */
const RESERVED =
  /^(id|last_updated|version|changed_by|changedBy|node_id|nodeId|and|or|not|tableoid|xmin|xmax|cmin|cmax|ctid)$/

/** Whether no field of any resource can have this name. */
export function isReservedField(name: string): boolean {
  return RESERVED.test(name)
}

/** The names that GraphQL and Prisma accept. */
export const FIELD_NAME = /^[A-Za-z]\w*$/

export type Case = readonly [boolean, string]

/** Every object of JavaScript has members of these names, so that a missing value would seem to be there. */
export function objectMemberCases(...names: readonly (string | undefined)[]): Case[] {
  return names.map((name) => {
    const isMember = name !== undefined && camelCase(name) in Object.prototype
    return [isMember, `${name} cannot be a name: every object of JavaScript has a member of it`]
  })
}

export function problemsAt(place: string, cases: readonly Case[]): string[] {
  return cases.filter(([isProblem]) => isProblem).map(([, problem]) => `${place}: ${problem}`)
}

export function fieldProblems(resource: Resource): string[] {
  const { path, fields, parentField, createdField, writable, leaves, fieldScopes } = resource
  const problems = Object.entries(fields).flatMap(([name, field]) => {
    const isReserved = isReservedField(name) || name === parentField || name === createdField
    return [
      ...problemsAt(`${path}.${name}`, [[isReserved, 'this name is reserved']]),
      ...problemsOfField(`${path}.${name}`, name, field),
    ]
  })
  const inTitle = titleFields(resource).filter((name) => !relationsInTitle(resource).includes(name))
  return [
    ...problems,
    ...leaves.flatMap((leaf) => [...uniqueProblems(resource, leaf), ...scopeProblems(resource, leaf)]),
    ...problemsAt(path, [
      [fieldScopes.length > MAXIMUM_SCOPES, `its fields need more than ${MAXIMUM_SCOPES} different scopes`],
      ...[...inTitle, ...(resource.columns ?? [])].map((name): Case => {
        const isField = leaves.some((leaf) => leaf.name === name)
        return [!isField, `its title or columns name ${name}, which is no field`]
      }),
      [writable.length === 0, 'it has no field that a caller may write'],
      [!!resource.searchIndex && searchable(resource).length === 0, 'it has no text for its search index'],
    ]),
  ]
}

function problemsOfField(place: string, name: string, field: Field): string[] {
  const nameCase: Case = [
    !FIELD_NAME.test(name),
    'a name has letters, digits and underscores, and begins with a letter',
  ]
  const { relation = undefined, inverse = undefined } = field?.type === 'reference' ? field : {}
  const nameCases = [nameCase, ...objectMemberCases(name, relation, inverse)]
  if (field?.type !== 'group') return problemsAt(place, [...nameCases, ...leafCases(field)])
  const members = Object.entries(field.fields ?? {})
  return [
    ...problemsAt(place, [
      ...nameCases,
      [members.length === 0, 'a group needs a field'],
      ...labelCases(field),
    ]),
    ...members.flatMap(([member, leaf]) => {
      const isComputed: Case = [leaf?.computed !== undefined, 'a member of a group cannot be computed']
      const at = `${place}.${member}`
      return [...problemsAt(at, [isComputed]), ...problemsOfField(at, member, leaf)]
    }),
  ]
}

/** TypeScript refuses most of these, but not in JavaScript or after casts. */
function leafCases(field: LeafField): Case[] {
  const kind = kindOf(field)
  if (!kind) return [[true, "it is not a field: call a function such as text('…')"]]
  const options = ['type', 'description', ...Object.keys(COMMON_OPTIONS), ...Object.keys(kind.guide.options)]
  const unknown = Object.keys(field).filter((option) => !options.includes(option))
  const isDescribed = typeof field.description === 'string' && field.description.trim() !== ''
  return [
    [!isDescribed, 'it needs a description'],
    ...labelCases(field),
    ...unknown.map((option): Case => [true, `${field.type} has no option ${option}`]),
    [
      field.index !== undefined && kind.operators.length === 0,
      `a field of the kind ${field.type} has no index`,
    ],
    ...(kind.problems?.(field) ?? []).map((problem): Case => [true, problem]),
    ...computedCases(field),
    ...initialCases(field),
  ]
}

function computedCases(field: LeafField): Case[] {
  const { computed, required, initially, unique, type } = field
  if (computed === undefined) return []
  const isOther = required === true || initially !== undefined || unique !== undefined
  return [
    [computed.trim() === '', 'its expression is empty'],
    [isOther, 'a computed field cannot be required or unique, or have an initial value'],
    [kindOf(field).isJson === true || type === 'reference', `a field of the kind ${type} cannot be computed`],
  ]
}

function labelCases(field: Field): Case[] {
  return (['label', 'unit'] as const).map((option) => {
    const text: unknown = field[option] ?? 'none'
    return [typeof text !== 'string' || text.trim() === '', `its ${option} is blank`]
  })
}

/** A required field needs an initial value if a version of the API without it can create resources. */
function initialCases(field: LeafField): Case[] {
  const { required = false, initially } = field
  if (typeof initially === 'function')
    return [
      [required, 'its initial value depends on the caller and may be missing, so it cannot be required'],
      [
        field.readOnly === undefined,
        'its initial value depends on the caller, who could also send another one: add `readOnly: true`, or `readOnly: false` to allow it',
      ],
    ]
  if (initially === undefined) {
    const isSome = required && isOfSomeApiVersions(field)
    const isSent = required && !field.readOnly && isRestricted(field)
    return [
      [isSome, 'it is required and only in some versions, so it needs initially'],
      [isSent, 'it is required and needs a scope, so it needs initially'],
    ]
  }
  const checked = kindOf(field).check(field, initially)
  if ('problem' in checked) return [[true, `its initial value ${checked.problem}`]]
  const isEmpty = required && typeof initially === 'string' && isBlank(initially)
  return [[isEmpty, 'it is required, so its initial value must not be blank']]
}

function uniqueProblems({ path, leaves }: Resource, { name, field }: Leaf): string[] {
  const { unique } = field
  if (!unique) return []
  const within = unique === true ? [] : [unique.within].flat()
  const others = within.map((other) => ({ other, leaf: leaves.find((one) => one.name === other) }))
  const isWrong = (one: LeafField) => kindOf(one)?.isJson === true || one.computed !== undefined
  return problemsAt(`${path}.${name}`, [
    [isWrong(field), `a field of the kind ${field.type} cannot be unique`],
    [unique !== true && within.length === 0, 'its `within` names no field'],
    ...others.map(({ other, leaf }): Case => {
      const isOther = leaf !== undefined && other !== name && other !== 'id' && !isWrong(leaf.field)
      const isRepeated = within.indexOf(other) !== within.lastIndexOf(other)
      return [
        !isOther || isRepeated,
        `it is unique within ${other}, which is not another field that can be compared`,
      ]
    }),
  ])
}

/** Each combination has views and routes of its own. */
const MAXIMUM_SCOPES = 6

const SCOPE_NAME = /^(?!(?:read|write)$)[a-z][a-z0-9_-]*$/

/** A field that needs no scope, or another one, must not show the values of one that does. */
function scopeProblems(resource: Resource, { name, path: [outer = ''], field }: Leaf): string[] {
  const { readScope, writeScope, computed = '' } = field
  const group = resource.fields[outer]
  const member = group?.type === 'group' ? group.fields[name.slice(outer.length + 1)] : undefined
  const shows = resource.leaves.filter(({ column, field: leafField }) => {
    const isShown =
      computed.split(/\W/).includes(column) || ('alsoMatches' in field && field.alsoMatches === column)
    return isShown && leafField.readScope !== undefined && leafField.readScope !== readScope
  })
  return problemsAt(`${resource.path}.${name}`, [
    ...[readScope, writeScope].map(
      (scope): Case => [
        scope !== undefined && !SCOPE_NAME.test(scope),
        `${scope} is not the name of a scope: lower-case letters, digits, "_" and "-", but not read or write`,
      ],
    ),
    [
      member !== undefined && isRestricted(member) && isRestricted(group as Field),
      'its group has a scope already',
    ],
    ...shows.map((leaf): Case => [true, `it shows the values of ${leaf.name}, which needs a scope`]),
  ])
}
