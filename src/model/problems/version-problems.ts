import { type ApiVersion, type Domain, isIn, VERSION_NAME, versionNumber } from '../domain.ts'
import type { Field } from '../fields.ts'
import { timestampKind } from '../kinds/timestamp.ts'
import type { Resource } from '../resource.ts'
import { type Case, problemsAt } from './field-problems.ts'

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
  ]
}
