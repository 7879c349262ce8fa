import {
  API_VERSION_NAME,
  type ApiVersion,
  apiVersionNumber,
  type Domain,
  isIn,
} from '../definition/domain.ts'
import type { Field } from '../definition/fields.ts'
import type { Resource } from '../definition/resource.ts'
import { timestampKind } from '../kinds/timestamp.ts'
import { type Case, FIELD_NAME, isReservedField, problemsAt } from './field-problems.ts'

export function apiVersionProblems({ resources, versions }: Domain): string[] {
  if (versions?.length === 0) return ['versions: leave it out, or name at least one']
  const declared = versions ?? []
  const newest = declared.at(-1)
  const isLeft = newest?.deprecated !== undefined
  return [
    ...declared.flatMap((apiVersion, index) => problemsOfApiVersion(apiVersion, declared[index - 1])),
    ...problemsAt('versions', [
      [isLeft, `${newest?.name} is the newest version, so it has no successor and cannot be deprecated`],
    ]),
    ...resources.flatMap((resource) => problemsOfBounds(resource, declared)),
  ]
}

function problemsOfApiVersion({ name, deprecated, sunset }: ApiVersion, previous?: ApiVersion): string[] {
  const isName = API_VERSION_NAME.test(name)
  const isOlder = previous !== undefined && apiVersionNumber(previous.name) >= apiVersionNumber(name)
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

function problemsOfBounds({ path, fields }: Resource, versions: readonly ApiVersion[]): string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const group = `${path}.${name}`
    const members = field.type === 'group' ? Object.entries(field.fields) : []
    const ofMembers = members.map(([member, leaf]) => {
      const bounds = [leaf.since, leaf.until]
      const isWithin = bounds.every((apiVersion) => apiVersion === undefined || isIn(apiVersion, field))
      return problemsAt(`${group}.${member}`, [
        ...boundCases(leaf, versions),
        [leaf.formerly !== undefined, 'a member of a group has no former name; its group can'],
        [!isWithin, `it is in versions that ${group} is not in`],
      ])
    })
    const cases = [...boundCases(field, versions), ...formerCases(field, fields, versions)]
    return [...problemsAt(group, cases), ...ofMembers.flat()]
  })
}

function formerCases(field: Field, fields: Resource['fields'], versions: readonly ApiVersion[]): Case[] {
  const { formerly, type } = field
  if (!formerly) return []
  const isOlder = versions.slice(0, -1).some(({ name }) => name === formerly.until)
  const other = Object.hasOwn(fields, formerly.name) || isReservedField(formerly.name)
  return [
    [type === 'reference', 'a reference has no former name: its link would have another, too'],
    [!isOlder, `formerly is until ${formerly.until}, which is not a version before the newest`],
    [other, `formerly is the name ${formerly.name}, which another field has or which is reserved`],
    [
      !FIELD_NAME.test(formerly.name),
      'formerly: a name has letters, digits and underscores, and begins with a letter',
    ],
  ]
}

function boundCases(field: Field, apiVersions: readonly ApiVersion[]): Case[] {
  const { since, until } = field
  const names = apiVersions.map(({ name }) => name)
  const declared = names.length > 0 ? `the domain has ${names.join(', ')}` : 'the domain declares no versions'
  const isEmpty =
    since !== undefined && until !== undefined && apiVersionNumber(since) > apiVersionNumber(until)
  return [
    ...Object.entries({ since, until }).map(([property, apiVersion]): Case => {
      const isUnknown = apiVersion !== undefined && !names.includes(apiVersion)
      return [isUnknown, `${property} is ${apiVersion}, but ${declared}`]
    }),
    [isEmpty, `since ${since} is after until ${until}, so no version has it`],
  ]
}
