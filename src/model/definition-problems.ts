import type { Domain } from './domain.ts'
import { type Field, isOfSomeVersions, kindOf, type LeafField, uniquenessOf } from './fields.ts'
import { timestampKind } from './kinds/timestamp.ts'
import type { Resource } from './resource.ts'
import { type ApiVersion, isIn, VERSION_NAME, versionNumber } from './versions/versions.ts'

/** The definitions of a domain are not valid, with one line for each problem. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError'

  /** @param place the module with the problems */
  constructor(
    readonly problems: readonly string[],
    place?: string,
    options?: ErrorOptions,
  ) {
    super(
      `The domain${place === undefined ? '' : ` in ${place}`} cannot be served:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
      options,
    )
  }
}

/** Of other fields of every resource, of members of GraphQL's filters, and of PostgreSQL's system columns. */
const RESERVED = /^(id|last_updated|version|node_id|nodeId|and|or|tableoid|xmin|xmax|cmin|cmax|ctid)$/

/** What GraphQL and Prisma take as the name of a field. */
const FIELD_NAME = /^[A-Za-z]\w*$/

type Case = readonly [boolean, string]

function problemsAt(place: string, cases: readonly Case[]): string[] {
  return cases.filter(([isProblem]) => isProblem).map(([, problem]) => `${place}: ${problem}`)
}

/**
 * The problems of a domain as a whole, each as one line. The types of TypeScript prevent others.
 *
 * @param domain the export `domain` of a module of definitions
 */
export function definitionProblems(domain: unknown): string[] {
  const { resources } = (domain ?? {}) as Partial<Domain>
  if (!Array.isArray(resources) || resources.length === 0) {
    return ['The module must export `domain`, with at least one resource in `domain.resources`']
  }
  return [
    ...repeated(resources, 'path'),
    ...repeated(resources, 'name'),
    ...resources.flatMap(fieldProblems),
    ...resources.flatMap((resource) => ownerProblems(resource, resources)),
    ...resources.flatMap((resource) => targetProblems(resource, resources)),
    ...versionProblems(domain as Domain),
  ]
}

function repeated(resources: readonly Resource[], property: 'path' | 'name'): string[] {
  const values = resources.map((resource) => resource[property])
  const others = new Set(values.filter((value, index) => values.indexOf(value) !== index))
  return [...others].map((value) => `Several resources have the ${property} ${JSON.stringify(value)}`)
}

/** What neither GraphQL nor the tables can have in the fields of a resource. */
function fieldProblems({ path, kind, fields, parentField, createdField, writable }: Resource): string[] {
  const problems = Object.entries(fields).flatMap(([name, field]) => {
    const isReserved = RESERVED.test(name) || name === parentField || name === createdField
    return [
      ...problemsAt(`${path}.${name}`, [[isReserved, 'this name is reserved']]),
      ...problemsOfField(`${path}.${name}`, name, field, kind),
    ]
  })
  return [
    ...problems,
    ...problemsAt(path, [[writable.length === 0, 'it has no field that a caller may write']]),
  ]
}

function problemsOfField(place: string, name: string, field: Field, kind: Resource['kind']): string[] {
  const members = field.type === 'group' ? Object.entries(field.fields) : []
  const ofKind = field.type === 'group' ? [] : (kindOf(field).problems?.(field) ?? [])
  const isWithinParent = field.type !== 'group' && uniquenessOf(field) === 'parent'
  const problems = problemsAt(place, [
    [!FIELD_NAME.test(name), 'a name has letters, digits and underscores, and begins with a letter'],
    [field.type === 'group' && members.length === 0, 'a group needs a field'],
    ...ofKind.map((problem): Case => [true, problem]),
    [
      isWithinParent && kind === 'collection',
      'it is unique within the parent, but a collection has no parent',
    ],
  ])
  const ofMembers = members.map(([member, leaf]) => problemsOfField(`${place}.${member}`, member, leaf, kind))
  return [...problems, ...ofMembers.flat()]
}

function ownerProblems({ path, kind, owner }: Resource, resources: readonly Resource[]): string[] {
  const isTop = kind === 'collection'
  return problemsAt(path, [
    [isTop && owner !== undefined, `a resource of the kind ${kind} has no owner`],
    [!isTop && !owner, `a resource of the kind ${kind} needs an owner`],
    [
      !isTop && owner !== undefined && !resources.includes(owner),
      `its owner ${owner?.path} is not among the resources of the domain`,
    ],
  ])
}

function targetProblems({ path, leaves }: Resource, resources: readonly Resource[]): string[] {
  return leaves.flatMap(({ name, field }) => {
    if (field.type !== 'reference') return []
    const target = resources.find((resource) => resource.path === field.to)
    const isNot = `${name} refers to ${field.to}, which is not`
    return problemsAt(path, [
      [!target, `${isNot} among the resources of the domain`],
      [target !== undefined && target.kind !== 'collection', `${isNot} a collection`],
    ])
  })
}

/** The contradictions in the versions of a domain and of its fields. */
export function versionProblems({ resources, versions }: Domain): string[] {
  if (versions?.length === 0) return ['versions: leave it out, or name at least one']
  const declared = versions ?? []
  const newest = declared.at(-1)
  const isLeft = newest?.deprecated !== undefined
  return [
    ...declared.flatMap((version, index) => problemsOfVersion(version, declared[index - 1])),
    ...problemsAt('versions', [
      [isLeft, `${newest?.name} is the newest version, so it has no successor and cannot be deprecated`],
    ]),
    ...resources.flatMap((resource) => problemsOfVersions(resource, declared)),
  ]
}

function problemsOfVersion({ name, deprecated, sunset }: ApiVersion, previous?: ApiVersion): string[] {
  const isName = VERSION_NAME.test(name)
  const isOlder = previous !== undefined && versionNumber(previous.name) >= versionNumber(name)
  return problemsAt('versions', [
    [!isName, `${name} is not the letter v and a number, as in v1`],
    [isName && isOlder, `${name} comes after ${previous?.name}, but the oldest version comes first`],
    ...Object.entries({ deprecated, sunset }).map(([property, date]): Case => {
      const isWrong = date !== undefined && timeOf(date) === undefined
      return [isWrong, `${property} of ${name} must be a date such as 2031-04-05, not ${date}`]
    }),
    [sunset !== undefined && deprecated === undefined, `${name} has sunset but not deprecated`],
    [
      (timeOf(sunset) ?? Infinity) <= (timeOf(deprecated) ?? -Infinity),
      `sunset of ${name} must be after deprecated`,
    ],
  ])
}

function timeOf(date: string | undefined): number | undefined {
  const checked = timestampKind.check({ type: 'timestamp', description: '' }, date ?? '')
  return 'value' in checked ? (checked.value as Date).getTime() : undefined
}

function problemsOfVersions({ path, fields }: Resource, versions: readonly ApiVersion[]): string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const group = `${path}.${name}`
    const members = field.type === 'group' ? Object.entries(field.fields) : []
    const ofMembers = members.map(([member, leaf]) => {
      const bounds = [leaf.since, leaf.until]
      const isWithin = bounds.every((version) => version === undefined || isIn(version, field))
      return problemsAt(`${group}.${member}`, [
        ...boundCases(leaf, versions),
        [!isWithin, `it is in versions that ${group} is not in`],
      ])
    })
    return [...problemsAt(group, boundCases(field, versions)), ...ofMembers.flat()]
  })
}

function boundCases(field: Field, versions: readonly ApiVersion[]): Case[] {
  const { since, until } = field
  const names = versions.map(({ name }) => name)
  const declared = names.length > 0 ? `the domain has ${names.join(', ')}` : 'the domain declares no versions'
  const isEmpty = since !== undefined && until !== undefined && versionNumber(since) > versionNumber(until)
  return [
    ...Object.entries({ since, until }).map(([property, version]): Case => {
      const isUnknown = version !== undefined && !names.includes(version)
      return [isUnknown, `${property} is ${version}, but ${declared}`]
    }),
    [isEmpty, `since ${since} is after until ${until}, so no version has it`],
    ...(isOfSomeVersions(field) && field.type !== 'group' ? initialCases(field) : []),
  ]
}

/** A version without the field creates resources too, so a required field needs a value that is valid. */
function initialCases(field: LeafField): Case[] {
  const { required = false, initially } = field
  if (initially === undefined) {
    return [[required, 'it is required and only in some versions, so it needs initially']]
  }
  const checked = kindOf(field).check(field, initially)
  if ('problem' in checked) return [[true, `its initial value ${checked.problem}`]]
  const isBlank = typeof initially === 'string' && initially.trim() === ''
  return [[required && isBlank, 'it is required, so its initial value must not be blank']]
}
